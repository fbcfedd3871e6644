#pragma once

// What is asked: views of the arrays, and the conventions as options.
#include <attest/problem/attention_error.hpp>
#include <attest/problem/options.hpp>
#include <attest/problem/tensor.hpp>
#include <attest/problem/visibility.hpp>
