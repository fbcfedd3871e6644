#pragma once

#include <span>
#include <string>
#include <string_view>

// What a misspelt name was meant to be.
namespace attest::io {

/// The text with A to Z as a to z.
std::string lower_case(std::string_view text);

/// Whether the names differ in case, _, - and spaces alone; or, where `known` has four letters or more, by
/// one letter that is another one, one too many or one too few, or by two neighbours in the other order.
bool is_near(std::string_view name, std::string_view known);

/// The first of the names that is near, or an empty text.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace attest::io
