#pragma once

#include <attest/exact/batch.hpp>
#include <attest/exact/decimal.hpp>
#include <attest/exact/dyadic.hpp>
#include <attest/exact/integer.hpp>
#include <attest/exact/matrix.hpp>
#include <attest/exact/number.hpp>
#include <attest/exact/projections.hpp>
#include <attest/exact/rational.hpp>
#include <attest/exact/scores.hpp>
