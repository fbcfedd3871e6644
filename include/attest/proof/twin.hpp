#pragma once

// TWIN(true..., false...) states a claim and its refuted twin in one place:
//
//   static_assert(decimal<weight, TWIN("0.401112", "0.401113")>);
//   static_assert(rank(TWIN({1, 0, 0, 1}, {1, 1, 1, 1})) == 2);
//
// It expands to the first half of its arguments, and where ATTEST_REFUTE is defined to the second half. Halves,
// because the preprocessor splits {1, 0} at its comma: as long as both values have the same number of commas,
// nothing needs parentheses. A half has at most 16 arguments; an odd number of arguments is an error.
//
// attest_add_refutation() (cmake/attest_proofs.cmake) compiles such a file both ways: as it stands it must
// compile, and with ATTEST_REFUTE the compiler must reject every statement that has a TWIN, and no other. To refute
// the TWINs of one line alone, define ATTEST_REFUTE_LINE_<number> as `~,`.

// clang-format off
#define TWIN(...)                                                                                           \
  ATTEST_TWIN_HALF(__VA_ARGS__, 16, odd, 15, odd, 14, odd, 13, odd, 12, odd, 11, odd, 10, odd, 9, odd,      \
                   8, odd, 7, odd, 6, odd, 5, odd, 4, odd, 3, odd, 2, odd, 1, odd, odd)(__VA_ARGS__)

#ifdef ATTEST_REFUTE
#define ATTEST_TWIN_PICK(half) ATTEST_TWIN_DROP_##half
#else
#define ATTEST_TWIN_PICK(half)                                                                              \
  ATTEST_TWIN_PICK_BY(ATTEST_TWIN_AT(__LINE__) ATTEST_TWIN_DROP_##half, ATTEST_TWIN_TAKE_##half, )
#define ATTEST_TWIN_PICK_BY(...) ATTEST_TWIN_SECOND(__VA_ARGS__)
#define ATTEST_TWIN_SECOND(a, b, ...) b
#define ATTEST_TWIN_AT(line) ATTEST_TWIN_AT_LINE(line)
#define ATTEST_TWIN_AT_LINE(line) ATTEST_REFUTE_LINE_##line
#endif

#define ATTEST_TWIN_HALF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p,                                    \
                         q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, half, ...) ATTEST_TWIN_PICK(half)

#define ATTEST_TWIN_TAKE_odd(...) ATTEST_TWIN_needs_an_even_number_of_arguments
#define ATTEST_TWIN_TAKE_1(a, ...) a
#define ATTEST_TWIN_TAKE_2(a, ...) a, ATTEST_TWIN_TAKE_1(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_3(a, ...) a, ATTEST_TWIN_TAKE_2(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_4(a, ...) a, ATTEST_TWIN_TAKE_3(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_5(a, ...) a, ATTEST_TWIN_TAKE_4(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_6(a, ...) a, ATTEST_TWIN_TAKE_5(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_7(a, ...) a, ATTEST_TWIN_TAKE_6(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_8(a, ...) a, ATTEST_TWIN_TAKE_7(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_9(a, ...) a, ATTEST_TWIN_TAKE_8(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_10(a, ...) a, ATTEST_TWIN_TAKE_9(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_11(a, ...) a, ATTEST_TWIN_TAKE_10(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_12(a, ...) a, ATTEST_TWIN_TAKE_11(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_13(a, ...) a, ATTEST_TWIN_TAKE_12(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_14(a, ...) a, ATTEST_TWIN_TAKE_13(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_15(a, ...) a, ATTEST_TWIN_TAKE_14(__VA_ARGS__)
#define ATTEST_TWIN_TAKE_16(a, ...) a, ATTEST_TWIN_TAKE_15(__VA_ARGS__)

#define ATTEST_TWIN_DROP_odd(...) ATTEST_TWIN_needs_an_even_number_of_arguments
#define ATTEST_TWIN_DROP_1(a, ...) __VA_ARGS__
#define ATTEST_TWIN_DROP_2(a, ...) ATTEST_TWIN_DROP_1(__VA_ARGS__)
#define ATTEST_TWIN_DROP_3(a, ...) ATTEST_TWIN_DROP_2(__VA_ARGS__)
#define ATTEST_TWIN_DROP_4(a, ...) ATTEST_TWIN_DROP_3(__VA_ARGS__)
#define ATTEST_TWIN_DROP_5(a, ...) ATTEST_TWIN_DROP_4(__VA_ARGS__)
#define ATTEST_TWIN_DROP_6(a, ...) ATTEST_TWIN_DROP_5(__VA_ARGS__)
#define ATTEST_TWIN_DROP_7(a, ...) ATTEST_TWIN_DROP_6(__VA_ARGS__)
#define ATTEST_TWIN_DROP_8(a, ...) ATTEST_TWIN_DROP_7(__VA_ARGS__)
#define ATTEST_TWIN_DROP_9(a, ...) ATTEST_TWIN_DROP_8(__VA_ARGS__)
#define ATTEST_TWIN_DROP_10(a, ...) ATTEST_TWIN_DROP_9(__VA_ARGS__)
#define ATTEST_TWIN_DROP_11(a, ...) ATTEST_TWIN_DROP_10(__VA_ARGS__)
#define ATTEST_TWIN_DROP_12(a, ...) ATTEST_TWIN_DROP_11(__VA_ARGS__)
#define ATTEST_TWIN_DROP_13(a, ...) ATTEST_TWIN_DROP_12(__VA_ARGS__)
#define ATTEST_TWIN_DROP_14(a, ...) ATTEST_TWIN_DROP_13(__VA_ARGS__)
#define ATTEST_TWIN_DROP_15(a, ...) ATTEST_TWIN_DROP_14(__VA_ARGS__)
#define ATTEST_TWIN_DROP_16(a, ...) ATTEST_TWIN_DROP_15(__VA_ARGS__)
// clang-format on
