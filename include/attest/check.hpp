#pragma once

// Candidates against references.
#include <attest/check/arrays.hpp>
#include <attest/check/attention.hpp>
#include <attest/check/certified.hpp>
#include <attest/check/compare.hpp>
#include <attest/check/conventions.hpp>
#include <attest/check/report.hpp>
#include <attest/check/ulp.hpp>
