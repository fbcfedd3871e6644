#pragma once

#include <attest/rounding/format.hpp>
#include <attest/rounding/nearest.hpp>
#include <attest/rounding/numeral.hpp>
#include <attest/rounding/round.hpp>
#include <attest/rounding/rounding_test.hpp>
