#pragma once

// Everything that a proof needs. An older clang is stopped here, as it would call true claims false: clang 14 takes
// no part of an object as a template argument. (Apple numbers its clang otherwise.)
#if defined(__clang__) && !defined(__apple_build_version__)
#if __clang_major__ < 19
#error "attest's proofs need clang 19 or newer, or g++ 12 or newer: this clang rejects true claims"
#endif
#endif

#include <attest/enclosure.hpp>
#include <attest/exact.hpp>
#include <attest/proof/claims.hpp>
#include <attest/proof/product.hpp>
#include <attest/rounding.hpp>
#include <attest/symbolic.hpp>
