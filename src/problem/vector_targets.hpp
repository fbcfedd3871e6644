#pragma once

// The instruction sets that a source file is compiled for; to be included before anything of Highway. Left
// out: those that add nothing here to their neighbour (SSSE3, and AVX3_SPR, AVX3_ZEN4, AVX3_DL, some of whose
// names Highway 1.0.3 does not know), and vectors of a length that is not a constant, which cannot be members
// of a register tile.
#define HWY_DISABLED_TARGETS                                                                         \
  (HWY_SSSE3 | HWY_AVX3_DL | (1LL << 6) | (1LL << 5) | (1LL << 4) | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | \
   HWY_SVE2_128 | HWY_RVV)
