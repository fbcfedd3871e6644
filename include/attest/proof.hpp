#pragma once

// Everything that a proof needs.
#include <attest/enclosure.hpp>
#include <attest/exact.hpp>
#include <attest/proof/claims.hpp>
#include <attest/proof/product.hpp>
#include <attest/rounding.hpp>
#include <attest/symbolic.hpp>
