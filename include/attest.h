/* attest for C and for everything that calls C: attention by the kernels and by the certified reference.
 *
 * What the options mean, in which order they apply and what each kernel is off by at most is said once, in
 * <attest/problem/options.hpp>, <attest/kernel/...> and <attest/reference/certified_attention.hpp>; this
 * header repeats it only as far as a caller needs it. The functions may be called from several threads at
 * once. None of them aborts, throws or writes to a standard stream. Results do not depend on the caller's
 * rounding mode or flush-to-zero, which are as before afterwards. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ATTEST_VERSION_MAJOR 0
#define ATTEST_VERSION_MINOR 1
#define ATTEST_VERSION_PATCH 0

#if defined(__GNUC__)
#define ATTEST_API __attribute__((visibility("default"), warn_unused_result))
#else
#define ATTEST_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors -------------------------------------------------------------------------------------------- */

/* What became of a call. Where it is not ATTEST_OK, attest_last_error() has a sentence about it. */
typedef enum attest_status {
  ATTEST_OK = 0,
  /* arrays that do not fit each other, or have elements and no memory */
  ATTEST_SHAPE = 1,
  /* an option out of its domain, in contradiction to another, or not said where it has to be */
  ATTEST_OPTION = 2,
  /* an option, element type or result that this kernel does not take */
  ATTEST_UNSUPPORTED = 3,
  /* NaN or infinity where a query looks */
  ATTEST_VALUE = 4,
  /* finite inputs whose scores or outputs overflow the kernel's format: results partly written */
  ATTEST_OVERFLOW = 5,
  /* a null pointer, a value that is none of its enumeration, a structure without its size, memory that is not
   * aligned, a result in memory that another array has */
  ATTEST_ARGUMENT = 6,
  /* results may be partly written */
  ATTEST_OUT_OF_MEMORY = 7,
  /* the progress function asked for it: results partly written */
  ATTEST_INTERRUPTED = 8,
  /* a fault of the library or of the system: results may be partly written */
  ATTEST_INTERNAL = 9
} attest_status;

/* "shape", "option", ...: a word for the status, or "unknown". Never null, never freed. */
ATTEST_API const char* attest_status_name(attest_status status);

/* What the last call of this thread that did not give ATTEST_OK was refused for, in one sentence that names
 * the array or option and the remedy: "array K: shape [3, 8] does not fit ...". Empty before the first. Valid
 * until this thread's next call into the library; at most 1023 bytes, the rest is cut off. Never null, never
 * freed. */
ATTEST_API const char* attest_last_error(void);

/* The version of the library that is loaded, "0.1.0"; the macros are those of the header. */
ATTEST_API const char* attest_version(void);

/* ---- Arrays -------------------------------------------------------------------------------------------- */

/* What an element is. Zero is none of them. A boolean is one byte, and any byte but 0 is true. */
enum attest_dtype {
  ATTEST_BOOLEAN = 1,
  ATTEST_INT8 = 2,
  ATTEST_INT16 = 3,
  ATTEST_INT32 = 4,
  ATTEST_INT64 = 5,
  ATTEST_UINT8 = 6,
  ATTEST_UINT16 = 7,
  ATTEST_UINT32 = 8,
  ATTEST_UINT64 = 9,
  ATTEST_FLOAT8_E4M3FN = 10, /* the formats of eight bits: OCP 8-bit Floating Point Specification, */
  ATTEST_FLOAT8_E5M2 = 11,   /* and their "finite, unsigned zero" variants */
  ATTEST_FLOAT8_E4M3FNUZ = 12,
  ATTEST_FLOAT8_E5M2FNUZ = 13,
  ATTEST_BFLOAT16 = 14,
  ATTEST_BINARY16 = 15,
  ATTEST_BINARY32 = 16, /* float */
  ATTEST_BINARY64 = 17  /* double */
};

/* An array to read: attention sees four axes [B, H, T, d], batch, head, position, coordinate. Rank 4 gives
 * all of them, rank 3 is [B, T, d] and rank 2 [T, d], with one head.
 *
 * Strides count elements; they may be 0 (one element stands for the whole axis) or negative. Null: by rows,
 * without gaps. (A DLPack tensor's shape and strides can be given as they are.) The memory stays the
 * caller's. It has to be aligned to the element, or the call is ATTEST_ARGUMENT; that it is as large as shape
 * and strides say, nobody can check. All zero: no array. */
typedef struct attest_array {
  const void* data;
  int32_t dtype; /* attest_dtype */
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides;
} attest_array;

/* An array to write to: as attest_array, but for strides that put several elements at one place, which are
 * ATTEST_SHAPE. It overlaps neither the inputs nor another result. (Arrays that begin at one element or lie
 * without gaps are found to overlap, ATTEST_ARGUMENT; others are not.) */
typedef struct attest_result {
  void* data;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides;
} attest_result;

/* Q [B, Hq, Tq, d_k], K [B, Hkv, Tk, d_k], V [B, Hkv, Tk, d_v]; Hkv divides Hq, and query head h reads the
 * key/value head h / (Hq / Hkv). Tq and Tk may be 0.
 *
 * With strides of 0 an array repeats elements, and could claim more than any call goes through: it is
 * ATTEST_SHAPE where that makes more than 2^24 elements of a head by position or coordinate, or more than
 * 2^32 in all. Keys and values of one head that are, in binary64, larger than the machine's memory are
 * ATTEST_OUT_OF_MEMORY. */
typedef struct attest_inputs {
  attest_array q;
  attest_array k;
  attest_array v;
} attest_inputs;

/* ---- Options ------------------------------------------------------------------------------------------- */

/* Structures that may grow begin with their size, which says how much of them the caller knows: begin with
 *
 *   attest_options options = ATTEST_OPTIONS_INIT;
 *
 * (or memset to 0 and set `size`), and set what is wanted. In every one of them zero means "not said". */

enum attest_causal_corner {
  ATTEST_TOP_LEFT = 1,    /* the first query stands at the first key */
  ATTEST_BOTTOM_RIGHT = 2 /* the last query stands at the last key */
};

/* What a row gives that sees no key and has no sink. */
enum attest_empty_row { ATTEST_EMPTY_ROW_ZERO = 1, ATTEST_EMPTY_ROW_NAN = 2, ATTEST_EMPTY_ROW_ERROR = 3 };

enum attest_log_sum_exp_base { ATTEST_BASE_E = 1, ATTEST_BASE_TWO = 2 };

/* The log-sum-exp of such a row. */
enum attest_empty_log_sum_exp { ATTEST_MINUS_INFINITY = 1, ATTEST_PLUS_INFINITY = 2 };

#define ATTEST_ALL_PROCESSORS (-1)

/* Everything that attention is asked for beyond Q, K and V: attest::attention_options. Where projects
 * disagree about a meaning there is no default, and the caller has to say. Scores go through these steps, in
 * this order: scale, softcap, bias and ALiBi, then what hides a key, then the sink. */
typedef struct attest_options {
  /* sizeof(attest_options) */
  size_t size;

  /* that float, exactly. Null: exactly 1/sqrt(d_k) */
  const double* scale;
  /* s becomes softcap * tanh(s / softcap). Positive; 0: none */
  double softcap;
  /* [B, Hq, Tq, Tk], float, extents of 1 repeat. -infinity hides a key; +infinity, NaN: errors */
  attest_array bias;
  /* slope * |position difference| is subtracted. One for each query head, the floats as they are */
  const double* alibi_slopes;
  /* any other number is ATTEST_SHAPE, here and below, and nothing of the list is read */
  size_t alibi_slopes_count;
  /* [B, Hq, Tq, Tk], boolean, extents of 1 repeat. True: the query sees the key */
  attest_array mask;
  /* not 0: a query sees no key beyond its own position */
  int32_t causal;
  /* attest_causal_corner; has to be said where positions matter, Tq != Tk and no past_keys is given */
  int32_t corner;
  /* a query sees that many keys to the left of its own and its own. Null: no limit */
  const uint64_t* window_left;
  /* likewise to the right */
  const uint64_t* window_right;
  /* query i stands at key *past_keys + i; Tk counts these keys. Null: not said */
  const uint64_t* past_keys;
  /* one for each batch element: K and V end there, and Tk is this length. Null: none */
  const uint64_t* key_lengths;
  size_t key_lengths_count;
  /* one more score a row, of value 0, neither scaled nor capped. One for each query head */
  const double* sinks;
  size_t sinks_count;
  /* attest_log_sum_exp_base; has to be said where a log-sum-exp is wanted */
  int32_t log_sum_exp_base;
  /* attest_empty_log_sum_exp; has to be said where a row is empty and one is wanted */
  int32_t empty_log_sum_exp;
  /* attest_empty_row; has to be said where a row is empty */
  int32_t empty_row;

  /* how many the call may use, which changes no result. 0: one; ATTEST_ALL_PROCESSORS: as there are */
  int32_t threads;
} attest_options;

/* ---- Results ------------------------------------------------------------------------------------------- */

/* Arrays to write. The output is always wanted, an array left zero is not calculated. The second group is the
 * certified reference's alone (kernels: ATTEST_UNSUPPORTED).
 *
 * A low word is binary32: the correctly rounded difference between the exact value and the element that it
 * belongs to. Certificates are ATTEST_UINT8, one attest_certificate for each element of their array (its low
 * word aside). */
typedef struct attest_results {
  size_t size; /* sizeof(attest_results) */

  attest_result output;      /* [B, Hq, Tq, d_v] */
  attest_result weights;     /* [B, Hq, Tq, Tk]; 0 for a hidden key */
  attest_result log_sum_exp; /* [B, Hq, Tq, 1] */

  attest_result output_low;
  attest_result weights_low;
  attest_result log_sum_exp_low;
  attest_result output_certificates;
  attest_result weights_certificates;
  attest_result log_sum_exp_certificates;
} attest_results;

#define ATTEST_ZERO_ARRAY_ {0, 0, 0, 0, 0}
#define ATTEST_OPTIONS_INIT                                                                                \
  {                                                                                                        \
    sizeof(attest_options), 0, 0, ATTEST_ZERO_ARRAY_, 0, 0, ATTEST_ZERO_ARRAY_, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
        0, 0, 0, 0                                                                                         \
  }
#define ATTEST_RESULTS_INIT                                                                                 \
  {                                                                                                         \
    sizeof(attest_results), ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_, \
        ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_  \
  }

/* ---- Kernels ------------------------------------------------------------------------------------------- */

enum attest_kernel {
  /* the formula as it stands, without subtracting the largest score: shows where that fails. Takes a scale
   * and a mask; refuses the rest */
  ATTEST_NAIVE = 1,
  /* every option, one row after another: the conventions as a program to read */
  ATTEST_STABLE = 2,
  /* every option, fast: one pass over the keys by the widest vector instructions */
  ATTEST_FUSED = 3
};

/* Attention in the precision of the arrays: Q, K, V and the results are all binary64 or all binary32. What a
 * kernel is off by at most is derived in docs/error-bounds.md. `options` may be null: none.
 *
 * Nothing is written where the status is ATTEST_SHAPE to ATTEST_VALUE or ATTEST_ARGUMENT. */
ATTEST_API attest_status attest_attention(int32_t kernel, const attest_inputs* inputs,
                                          const attest_options* options, const attest_results* results);

/* ---- The certified reference --------------------------------------------------------------------------- */

/* What is known of an element of a reference. */
enum attest_certificate {
  /* it is the exact value, correctly rounded */
  ATTEST_CERTIFIED = 0,
  /* so it is, and the exact value is a number of the format or a tie between two of them */
  ATTEST_EXACT = 1,
  /* not known: max_bits was reached, or the softcap left a tie that nobody can exclude */
  ATTEST_UNDECIDED = 2
};

/* What settles an element, from the cheapest to the one that settles everything. */
enum attest_tier {
  /* the double kernel and its bound: output formats of at most 24 significant bits */
  ATTEST_TIER_NARROW = 0,
  /* pairs of doubles and their bound */
  ATTEST_TIER_DOUBLE_DOUBLE = 1,
  /* intervals of growing precision */
  ATTEST_TIER_ENCLOSURE = 2,
  /* the sign of a finite sum of exponentials: representable values and ties */
  ATTEST_TIER_SYMBOLIC = 3
};
#define ATTEST_TIERS 4

enum attest_rounding {
  ATTEST_NEAREST_EVEN = 0,
  ATTEST_TOWARD_ZERO = 1,
  ATTEST_UP = 2,
  ATTEST_DOWN = 3,
  ATTEST_TO_ODD = 4
};

/* Called from one thread at a time with the number of rows done and of all that were asked for. 0: go on;
 * anything else stops the call, which gives ATTEST_INTERRUPTED. Must return. The first call comes after all
 * elements of the inputs have been looked at for NaN and infinity and a block of rows is done; in rows that
 * take long, calls come several times a second, with the same number. */
typedef int (*attest_progress)(size_t done, size_t rows, void* user);

/* attest::certified_options. */
typedef struct attest_certified_options {
  /* sizeof(attest_certified_options) */
  size_t size;

  /* attest_rounding */
  int32_t direction;
  /* not 0: what overflows a format becomes its largest number; 0: its infinity, NaN where it has none */
  int32_t saturate;
  /* the most bits of an enclosure before an element ends undecided, at least 128. 0: no limit (with a
   * softcap, where ties cannot be excluded, 4096) */
  uint32_t max_bits;
  /* for tests: tiers that are not tried, the sum of 1 << attest_tier. The values do not depend on it as long
   * as the last two are tried */
  uint32_t without_tiers;
  /* only these rows are calculated and written: query i of head h of batch b is row (b*Hq + h)*Tq + i */
  uint64_t first_row;
  /* one beyond the end. 0: all to the last. Past it, or a first_row beyond it: ATTEST_OPTION */
  uint64_t last_row;
  /* null: none */
  attest_progress progress;
  /* for progress */
  void* user;
} attest_certified_options;

#define ATTEST_CERTIFIED_OPTIONS_INIT {sizeof(attest_certified_options), 0, 0, 0, 0, 0, 0, 0, 0}

/* How the elements of a call were settled. Not part of the reference: it depends on the machine. Its size is
 * to be set before the call, too. */
typedef struct attest_certification {
  size_t size; /* sizeof(attest_certification) */

  uint64_t settled[ATTEST_TIERS]; /* elements by the tier that settled them, low words not counted */
  uint64_t exact;                 /* of all: representable values and ties */
  uint64_t undecided;
  uint64_t most_bits; /* of an enclosure that was needed */
} attest_certification;

#define ATTEST_CERTIFICATION_INIT {sizeof(attest_certification), {0, 0, 0, 0}, 0, 0, 0}

/* Attention with every option, each element correctly rounded: attest::certified_attention. Inputs may be of
 * any type but boolean, each of its own, and are taken exactly; results are of any float type, each of its
 * own, by one rounding. The same bytes on every machine, for every number of threads. `options`, `certified`
 * and `certification` may be null.
 *
 * Elements that end undecided are no error: see certification->undecided and the certificates. */
ATTEST_API attest_status attest_certified_attention(const attest_inputs* inputs,
                                                    const attest_options* options,
                                                    const attest_results* results,
                                                    const attest_certified_options* certified,
                                                    attest_certification* certification);

/* ---- Checking a kernel --------------------------------------------------------------------------------- */

/* attest_tolerance and attest_comparison stand inside other structures and do not grow: what is added later
 * stands at the end of those. */

/* What every element of an array must keep to: to all that are said. NaN or infinity in one of candidate and
 * reference alone, and another shape, fail in any case. */
typedef struct attest_tolerance {
  /* |candidate - exact| at most. Null: not said */
  const double* absolute;
  /* numbers of the candidate's format from the correctly rounded one at most. Null: not said */
  const uint64_t* ulp;
  /* of the output alone: |candidate - exact| in units of 2^-p sum_j w_ij |v_jc| at most, p being the
   * precision of weighted_v_dtype. A correctly rounded element has 1 at most. Null: not said */
  const double* weighted_v;
  /* attest_dtype, a float. 0: the candidate's */
  int32_t weighted_v_dtype;
} attest_tolerance;

/* What a kernel gave, in any float type, and what it must keep to. An array left zero is not checked. */
typedef struct attest_candidate {
  size_t size; /* sizeof(attest_candidate) */

  attest_array output;      /* [B, Hq, Tq, d_v] */
  attest_array weights;     /* [B, Hq, Tq, Tk] */
  attest_array log_sum_exp; /* [B, Hq, Tq, 1] */
  attest_tolerance output_tolerance;
  attest_tolerance weights_tolerance;
  attest_tolerance log_sum_exp_tolerance;
  /* not 0: what overflows the candidate's format is its largest number; 0: its infinity, or NaN */
  int32_t saturate;
} attest_candidate;

#define ATTEST_ZERO_TOLERANCE_ {0, 0, 0, 0}
#define ATTEST_CANDIDATE_INIT                                                                       \
  {                                                                                                 \
    sizeof(attest_candidate), ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_, ATTEST_ZERO_ARRAY_,           \
        ATTEST_ZERO_TOLERANCE_, ATTEST_ZERO_TOLERANCE_, ATTEST_ZERO_TOLERANCE_, 0                   \
  }

enum attest_judgement {
  /* everything is within the tolerance */
  ATTEST_PASSED = 1,
  ATTEST_FAILED = 2,
  /* no tolerance was said, and no element differs from the correctly rounded one */
  ATTEST_EQUAL = 3,
  /* no tolerance was said, and elements differ: that is no pass */
  ATTEST_NOT_JUDGED = 4
};

/* The largest value of an error, and the first element that has it, counted by rows. NaN: no element is
 * finite in both arrays, or the error was not asked for. */
typedef struct attest_largest_error {
  double value;
  uint64_t at;
} attest_largest_error;

typedef struct attest_comparison {
  /* attest_judgement. 0: there is no such array, and nothing below */
  int32_t judgement;
  uint64_t elements;
  /* those that are not the correctly rounded number; that are past the tolerance, or without one differ */
  uint64_t different;
  uint64_t failing;
  attest_largest_error absolute_error;
  attest_largest_error ulp_distance; /* as a double, rounded past 2^53 */
  attest_largest_error ulp_error;    /* |candidate - exact| / ulp(exact): at most 0.5 of a correct rounding */
  attest_largest_error weighted_error;
} attest_comparison;

typedef struct attest_check_report {
  size_t size; /* sizeof(attest_check_report) */

  /* 1: each array is ATTEST_PASSED or ATTEST_EQUAL */
  int32_t passed;
  attest_comparison output;
  attest_comparison weights;
  attest_comparison log_sum_exp;
} attest_check_report;

#define ATTEST_ZERO_COMPARISON_ {0, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}}
#define ATTEST_CHECK_REPORT_INIT                                                               \
  {                                                                                            \
    sizeof(attest_check_report), 0, ATTEST_ZERO_COMPARISON_, ATTEST_ZERO_COMPARISON_,          \
        ATTEST_ZERO_COMPARISON_                                                                \
  }

/* Computes the exact values and compares a kernel's results with them, as `attest check` does with files: an
 * array that fails has its worst elements with their exact values, its layout, differences of convention that
 * explain it and the places of its failures in attest_last_report(). A candidate that fails is ATTEST_OK with
 * report->passed 0; any other status says that nothing was compared. `options` may be null. */
ATTEST_API attest_status attest_check_attention(const attest_inputs* inputs, const attest_options* options,
                                                const attest_candidate* candidate,
                                                attest_check_report* report);

/* What the last attest_check_attention of this thread that gave ATTEST_OK found, in lines. Empty before the
 * first. Valid until this thread's next such call. Never null, never freed. */
ATTEST_API const char* attest_last_report(void);

#ifdef __cplusplus
} /* extern "C" */
#endif
