#include <attest/rounding/format.hpp>
