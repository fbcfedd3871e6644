#pragma once

// Fast or readable, uncertified: kernels in binary64 and binary32, each with a proved error bound.
#include <attest/kernel/arrays.hpp>
#include <attest/kernel/error_bound.hpp>
#include <attest/kernel/float_environment.hpp>
#include <attest/kernel/fused.hpp>
#include <attest/kernel/naive.hpp>
#include <attest/kernel/stable.hpp>
