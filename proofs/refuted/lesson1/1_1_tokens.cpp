// The claims of lesson1/1_1_tokens.cpp, each beside a false twin: one number changed at a time, of a long list one in each row.
#include "../../lesson1/head.hpp"

#include <attest/proof/twin.hpp>

namespace lesson1 {

// ---- The vocabulary: the different characters of the corpus
constexpr integer vocab_size(characters.size);
static_assert(exactly<vocab_size, TWIN("24", "25")>);

// ---- The ids of "the lamp"
constexpr auto ids = [] {
  matrix<integer, 1, slice.size()> row;
  for (std::size_t t = 0; t < slice.size(); ++t) row(0, t) = integer(characters.token(slice[t]));
  return row;
}();
static_assert(exactly<ids, TWIN("[19, 9, 6, 0, 12, 2, 13, 16]", "[10, 9, 6, 0, 12, 2, 13, 16]")>);
static_assert(exactly<ids, TWIN("[19, 9, 6, 0, 12, 2, 13, 16]", "[19, 0, 6, 0, 12, 2, 13, 16]")>);
static_assert(exactly<ids, TWIN("[19, 9, 6, 0, 12, 2, 13, 16]", "[19, 9, 7, 0, 12, 2, 13, 16]")>);
static_assert(exactly<ids, TWIN("[19, 9, 6, 0, 12, 2, 13, 16]", "[19, 9, 6, 1, 12, 2, 13, 16]")>);
static_assert(exactly<ids, TWIN("[19, 9, 6, 0, 12, 2, 13, 16]", "[19, 9, 6, 0, 13, 2, 13, 16]")>);
static_assert(exactly<ids, TWIN("[19, 9, 6, 0, 12, 2, 13, 16]", "[19, 9, 6, 0, 12, 3, 13, 16]")>);
static_assert(exactly<ids, TWIN("[19, 9, 6, 0, 12, 2, 13, 16]", "[19, 9, 6, 0, 12, 2, 14, 16]")>);
static_assert(exactly<ids, TWIN("[19, 9, 6, 0, 12, 2, 13, 16]", "[19, 9, 6, 0, 12, 2, 13, 17]")>);

// ---- One sequence of 8 characters in 8 dimensions: (B, T, C)
static_assert(shape<embed_table, TWIN(24, 25), 8>);
static_assert(shape<embed_table, 24, TWIN(8, 9)>);
static_assert(shape<X, TWIN(1, 2), 8, 8>);
static_assert(shape<X, 1, TWIN(8, 9), 8>);
static_assert(shape<X, 1, 8, TWIN(8, 9)>);

// ---- X[0, t] is row ids[t] of the table
constexpr auto first_of_X = row_of(X[0], 0);
constexpr auto row_of_t = row_of(embed_table, 19);
constexpr auto last_of_X = row_of(X[0], 7);
constexpr auto row_of_p = row_of(embed_table, 16);
static_assert(equal<first_of_X, TWIN(row_of_t, row_of_p)>);
static_assert(equal<last_of_X, TWIN(row_of_p, row_of_t)>);

// ---- The first values of the stream, bit for bit
constexpr auto first_row = row_of(embed_table, 0);
static_assert(binary64_bits<first_row, TWIN(0x3fdfca2a28a9307c, 0x3fdfca2a28a9307d), 0xbfc1b2a505de052a,
                                       0x3fe4b9dd50245e68, 0x3ff85e548e01aa2b,
                                       0xbfcdf8bcdf57a640, 0xbfcdf8332670db3b,
                                       0x3ff94474a8407408, 0x3fe88ed346f0d7f3>);
static_assert(binary64_bits<first_row, 0x3fdfca2a28a9307c, TWIN(0xbfc1b2a505de052a, 0xbfc1b2a505de052b),
                                       0x3fe4b9dd50245e68, 0x3ff85e548e01aa2b,
                                       0xbfcdf8bcdf57a640, 0xbfcdf8332670db3b,
                                       0x3ff94474a8407408, 0x3fe88ed346f0d7f3>);
static_assert(binary64_bits<first_row, 0x3fdfca2a28a9307c, 0xbfc1b2a505de052a,
                                       TWIN(0x3fe4b9dd50245e68, 0x3fe4b9dd50245e69), 0x3ff85e548e01aa2b,
                                       0xbfcdf8bcdf57a640, 0xbfcdf8332670db3b,
                                       0x3ff94474a8407408, 0x3fe88ed346f0d7f3>);
static_assert(binary64_bits<first_row, 0x3fdfca2a28a9307c, 0xbfc1b2a505de052a,
                                       0x3fe4b9dd50245e68, TWIN(0x3ff85e548e01aa2b, 0x3ff85e548e01aa2c),
                                       0xbfcdf8bcdf57a640, 0xbfcdf8332670db3b,
                                       0x3ff94474a8407408, 0x3fe88ed346f0d7f3>);
static_assert(binary64_bits<first_row, 0x3fdfca2a28a9307c, 0xbfc1b2a505de052a,
                                       0x3fe4b9dd50245e68, 0x3ff85e548e01aa2b,
                                       TWIN(0xbfcdf8bcdf57a640, 0xbfcdf8bcdf57a641), 0xbfcdf8332670db3b,
                                       0x3ff94474a8407408, 0x3fe88ed346f0d7f3>);
static_assert(binary64_bits<first_row, 0x3fdfca2a28a9307c, 0xbfc1b2a505de052a,
                                       0x3fe4b9dd50245e68, 0x3ff85e548e01aa2b,
                                       0xbfcdf8bcdf57a640, TWIN(0xbfcdf8332670db3b, 0xbfcdf8332670db3c),
                                       0x3ff94474a8407408, 0x3fe88ed346f0d7f3>);
static_assert(binary64_bits<first_row, 0x3fdfca2a28a9307c, 0xbfc1b2a505de052a,
                                       0x3fe4b9dd50245e68, 0x3ff85e548e01aa2b,
                                       0xbfcdf8bcdf57a640, 0xbfcdf8332670db3b,
                                       TWIN(0x3ff94474a8407408, 0x3ff94474a8407409), 0x3fe88ed346f0d7f3>);
static_assert(binary64_bits<first_row, 0x3fdfca2a28a9307c, 0xbfc1b2a505de052a,
                                       0x3fe4b9dd50245e68, 0x3ff85e548e01aa2b,
                                       0xbfcdf8bcdf57a640, 0xbfcdf8332670db3b,
                                       0x3ff94474a8407408, TWIN(0x3fe88ed346f0d7f3, 0x3fe88ed346f0d7f4)>);

}  // namespace lesson1
