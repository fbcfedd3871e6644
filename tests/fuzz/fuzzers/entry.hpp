#pragma once

#include "../targets.hpp"

namespace fuzz {

/// The target of this fuzzer.
outcome entry(std::string_view bytes);

}  // namespace fuzz
