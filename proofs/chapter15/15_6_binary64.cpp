// 15.6 Check the arithmetic: the file that the chapter's program compares with, attention.json.
#include "head.hpp"

namespace chapter15 {

// ---- The correctly rounded doubles of all weights and outputs, as numerals that read back
static_assert(binary64<A, "[0.4011120926797859,  0.19777581464042818, 0.4011120926797859]"
                          "[0.24825507825772308, 0.24825507825772308, 0.5034898434845538]"
                          "[0.28399540974126003, 0.14002924504337802, 0.575975345215362]">);
static_assert(binary64<O, "[1.401112092679786,  1.1977758146404283]"
                          "[1.5034898434845538, 1.5034898434845538]"
                          "[1.575975345215362,  1.43200918051748]">);

// ---- ... and bit for bit
static_assert(binary64_bits<A, 0x3fd9abd20e05bf4f, 0x3fc950b7c7e902c5, 0x3fd9abd20e05bf4f,
                               0x3fcfc6d289176758, 0x3fcfc6d289176758, 0x3fe01c96bb744c54,
                               0x3fd22cfb15436198, 0x3fc1ec7a71f8f1c9, 0x3fe26e63d8e012c2>);
static_assert(binary64_bits<O, 0x3ff66af483816fd4, 0x3ff32a16f8fd2059,
                               0x3ff80e4b5dba262a, 0x3ff80e4b5dba262a,
                               0x3ff93731ec700961, 0x3ff6e982755e4f34>);

// ---- The published weight (1, 2) is right as a decimal of 16 digits, and one ulp above the correctly rounded double
constexpr auto A12 = A(0, 1);
constexpr integer ulps_above = ulp_difference("0.1977758146404282", A12, formats::binary64);
static_assert(decimal<A12, "0.1977758146404282">);
static_assert(!binary64<A12, "0.1977758146404282">);
static_assert(binary64<A12, "0.19777581464042818">);
static_assert(exactly<ulps_above, "1">);

// ---- It is inside the file's tolerance, as is everything else that the file says
static_assert(within<A12, "0.1977758146404282", "1e-12">);
static_assert(within<A, "[0.4011120926797859,  0.1977758146404282,  0.4011120926797859]"
                        "[0.24825507825772308, 0.24825507825772308, 0.5034898434845538]"
                        "[0.28399540974126003, 0.14002924504337802, 0.575975345215362]",
                     "0.000000000001">);
static_assert(within<O, "[1.401112092679786,  1.1977758146404283]"
                        "[1.5034898434845538, 1.5034898434845538]"
                        "[1.575975345215362,  1.43200918051748]",
                     "0.000000000001">);

// ---- The largest differences that the chapter's run recorded are single units in the last place: 2^-53 is one below 1
//      (weights), 2^-52 one above (outputs)
constexpr dyadic weight_difference = dyadic(integer(1), -53);
constexpr dyadic output_difference = dyadic(integer(1), -52);
static_assert(decimal<weight_difference, "0.000000000000000111">);
static_assert(decimal<output_difference, "0.000000000000000222">);

}  // namespace chapter15
