#pragma once

#include <attest/io/case_file.hpp>
#include <attest/reference/attention.hpp>

#include <span>
#include <string>
#include <string_view>

namespace attest::io {

/// The version of the block that attest adds to attention-v1.
inline constexpr std::string_view block_version = "attest-v1";

/// The attention-v1 file of a case and its reference (docs/formats.md): the inputs and `expected`, exact
/// integers as integers and everything else as the shortest decimal of the correctly rounded binary64; and
/// the block `attest`. The same bytes on every machine. A value that overflows binary64 and is no integer is
/// input_error, with `name` as its file.
std::string attention_v1(const case_file& file, const attention_reference& answer, std::string_view name);
/// The same of a batch and the reference of each example, in order: every array gains a leading list level,
/// but for the inputs that the case gives once for all examples.
std::string attention_v1(const case_batch& file, std::span<const attention_reference> answers,
                         std::string_view name);

}  // namespace attest::io
