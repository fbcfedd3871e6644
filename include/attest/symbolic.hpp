#pragma once

#include <attest/symbolic/equality.hpp>
#include <attest/symbolic/exp_fraction.hpp>
#include <attest/symbolic/exp_sum.hpp>
#include <attest/symbolic/print.hpp>
#include <attest/symbolic/softmax.hpp>
#include <attest/symbolic/surd.hpp>
#include <attest/symbolic/written.hpp>
