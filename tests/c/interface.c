/* A program in C99 that provokes every error that a caller in C can, and reads what the answers and messages are. */
#include <attest.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check_that(int holds, const char* what, int line) {
  if (holds) return;
  failures++;
  fprintf(stderr, "interface.c:%d: %s\n  last error: %s\n", line, what, attest_last_error());
}
#define CHECK(condition) check_that((condition) != 0, #condition, __LINE__)

/* The status, and a part of the message. */
static void check_refused(attest_status actual, attest_status wanted, const char* message, int line) {
  if (actual == wanted && strstr(attest_last_error(), message) != NULL) return;
  failures++;
  fprintf(stderr, "interface.c:%d: status %s, wanted %s; message \"%s\", wanted \"%s\"\n", line, attest_status_name(actual),
          attest_status_name(wanted), attest_last_error(), message);
}
#define REFUSED(call, status, message) check_refused((call), (status), (message), __LINE__)

/* Two queries, three keys, d_k = d_v = 1. All scores of the first query are 0, those of the second 0, ln 2 and 0. */
static double q[2] = {0, 1};
static double k[3] = {0, 0.69314718055994531, 0};
static double v[3] = {1, 2, 6};
static double out[2];
static double lse[2];
static double weights[6];
static const int64_t two_by_one[2] = {2, 1};
static const int64_t three_by_one[2] = {3, 1};
static const int64_t two_by_three[2] = {2, 3};
static const double one = 1;

static attest_array reads(const double* data, const int64_t* shape) {
  attest_array a = {0, 0, 0, 0, 0};
  a.data = data;
  a.dtype = ATTEST_BINARY64;
  a.rank = 2;
  a.shape = shape;
  return a;
}
static attest_result writes(double* data, const int64_t* shape) {
  attest_result a = {0, 0, 0, 0, 0};
  a.data = data;
  a.dtype = ATTEST_BINARY64;
  a.rank = 2;
  a.shape = shape;
  return a;
}

static attest_inputs inputs(void) {
  attest_inputs in;
  in.q = reads(q, two_by_one);
  in.k = reads(k, three_by_one);
  in.v = reads(v, three_by_one);
  return in;
}
static attest_results results(void) {
  attest_results r = ATTEST_RESULTS_INIT;
  r.output = writes(out, two_by_one);
  return r;
}
static attest_options no_options(void) {
  attest_options o = ATTEST_OPTIONS_INIT;
  return o;
}

static int near(double a, double b) { return fabs(a - b) <= 1e-15 * fabs(b); }

static void answers(void) {
  const attest_inputs in = inputs();
  attest_results r = results();
  attest_options o = no_options();
  o.log_sum_exp_base = ATTEST_BASE_TWO;
  r.weights = writes(weights, two_by_three);
  r.log_sum_exp = writes(lse, two_by_one);
  CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
  CHECK(near(out[0], 3));                      /* (1 + 2 + 6) / 3 */
  CHECK(near(out[1], 11.0 / 4));               /* (1 + 2*2 + 6) / 4 */
  CHECK(near(weights[4], 0.5));                /* 2 / (1 + 2 + 1) */
  CHECK(near(lse[1], 2));                      /* log2(4) */
  CHECK(near(lse[0], 1.5849625007211562));     /* log2(3), https://oeis.org/A020857 */

  r = results();
  CHECK(attest_attention(ATTEST_STABLE, &in, NULL, &r) == ATTEST_OK);
  CHECK(near(out[1], 11.0 / 4));
  CHECK(attest_attention(ATTEST_NAIVE, &in, NULL, &r) == ATTEST_OK);
  CHECK(near(out[1], 11.0 / 4));
  CHECK(attest_attention(ATTEST_FUSED, &in, NULL, &r) == ATTEST_OK);
  CHECK(near(out[1], 11.0 / 4));

  /* Corners and past keys: query 0 sees one key, two keys, three keys. */
  o = no_options();
  o.causal = 1;
  o.corner = ATTEST_TOP_LEFT;
  CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
  CHECK(near(out[0], 1));
  o.corner = ATTEST_BOTTOM_RIGHT;
  o.causal = -1; /* not 0 */
  CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
  CHECK(near(out[0], 1.5));
  {
    const uint64_t past = 1;
    o.corner = 0;
    o.past_keys = &past;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(near(out[0], 1.5));
  }

  /* A window without a right side, at the top left: query 1 sees keys 1 and 2 (scores ln 2 and 0). */
  {
    const uint64_t left = 0;
    o = no_options();
    o.corner = ATTEST_TOP_LEFT;
    o.window_left = &left;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(near(out[1], 10.0 / 3)); /* (2*2 + 6) / 3 */
  }

  /* A mask [1, Tk] for all queries, a bias, a sink, a key length, a scale of 0. */
  {
    const unsigned char mask[3] = {1, 0, 1};
    const int64_t one_by_three[2] = {1, 3};
    const uint64_t length = 2;
    const double sink = 0, zero = 0;
    const float bias[3] = {0.0f, 0.0f, -INFINITY};
    o = no_options();
    o.mask.data = mask;
    o.mask.dtype = ATTEST_BOOLEAN;
    o.mask.rank = 2;
    o.mask.shape = one_by_three;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(near(out[0], 3.5));
    o = no_options();
    o.bias.data = bias;
    o.bias.dtype = ATTEST_BINARY32;
    o.bias.rank = 2;
    o.bias.shape = one_by_three;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(near(out[0], 1.5));
    o = no_options();
    o.sinks = &sink;
    o.sinks_count = 1;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(near(out[0], 9.0 / 4));
    o = no_options();
    o.key_lengths = &length;
    o.key_lengths_count = 1;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(near(out[0], 1.5));
    o = no_options();
    o.scale = &zero;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(near(out[1], 3));
  }

  /* Strides: the keys backwards, one value for all. */
  {
    attest_inputs strided = inputs();
    const int64_t backwards[2] = {-1, 1};
    const int64_t standing[2] = {0, 0};
    strided.k.data = k + 2;
    strided.k.strides = backwards;
    strided.v.strides = standing;
    strided.v.data = v + 2;
    CHECK(attest_attention(ATTEST_STABLE, &strided, NULL, &r) == ATTEST_OK);
    CHECK(near(out[0], 6) && near(out[1], 6));
  }

  /* The empty row. */
  {
    const uint64_t none = 0;
    o = no_options();
    o.key_lengths = &none;
    o.key_lengths_count = 1;
    REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_OPTION, "sees no key: set empty_row");
    o.empty_row = ATTEST_EMPTY_ROW_ERROR;
    REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_OPTION, "empty_row says that this is an error");
    o.empty_row = ATTEST_EMPTY_ROW_NAN;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(isnan(out[0]) && isnan(out[1]));
    o.empty_row = ATTEST_EMPTY_ROW_ZERO;
    o.log_sum_exp_base = ATTEST_BASE_E;
    o.empty_log_sum_exp = ATTEST_PLUS_INFINITY;
    r.log_sum_exp = writes(lse, two_by_one);
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(out[0] == 0 && isinf(lse[0]) && lse[0] > 0);
    o.empty_log_sum_exp = ATTEST_MINUS_INFINITY;
    CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
    CHECK(isinf(lse[0]) && lse[0] < 0);
  }
}

static void shapes(void) {
  attest_inputs in = inputs();
  const attest_results r = results();
  const int64_t negative[2] = {-2, 1};
  const int64_t standing[2] = {0, 1};
  attest_results wrong = results();

  in.k.shape = two_by_three;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_SHAPE, "array K: shape [2, 3] does not fit Q of shape [2, 1]");
  in = inputs();
  in.q.shape = negative;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_SHAPE, "array Q: an extent is -2");
  in = inputs();
  in.v.rank = 5;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_SHAPE, "array V: its rank is 5");
  in = inputs();
  in.v.data = NULL;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_SHAPE, "array V: shape [3, 1] has elements and the array no memory");
  in = inputs();
  wrong.output.strides = standing;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &wrong), ATTEST_SHAPE, "array output: axis 2 of its four has stride 0");
  wrong = results();
  wrong.output.shape = three_by_one;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &wrong), ATTEST_SHAPE, "array output: shape [3, 1]");
}

static void options(void) {
  const attest_inputs in = inputs();
  attest_results r = results();
  attest_options o = no_options();
  o.causal = 1;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_OPTION, "set corner to top_left or bottom_right");
  o = no_options();
  o.softcap = -1;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_OPTION, "softcap is -1");
  o.softcap = NAN;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_OPTION, "softcap is");
  o = no_options();
  o.empty_log_sum_exp = ATTEST_PLUS_INFINITY;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_OPTION, "empty_log_sum_exp is said and log_sum_exp_base is not");
  r.log_sum_exp = writes(lse, two_by_one);
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_OPTION, "its base is not said");
}

static void unsupported(void) {
  attest_inputs in = inputs();
  attest_results r = results();
  attest_options o = no_options();
  o.softcap = 1;
  REFUSED(attest_attention(ATTEST_NAIVE, &in, &o, &r), ATTEST_UNSUPPORTED, "does not take softcap");
  in.k.dtype = ATTEST_BINARY32;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_UNSUPPORTED, "array K: its elements are binary32 and those of Q binary64");
  in = inputs();
  in.q.dtype = ATTEST_INT64;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_UNSUPPORTED, "array Q: its elements are int64");
  in = inputs();
  r.output.dtype = ATTEST_BINARY32;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_UNSUPPORTED, "array output: its elements are binary32");
  r = results();
  r.weights = writes(weights, two_by_three);
  r.weights.dtype = ATTEST_BINARY32;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_UNSUPPORTED, "array weights: its elements are binary32");
  r = results();
  r.log_sum_exp = writes(lse, two_by_one);
  r.log_sum_exp.dtype = ATTEST_BINARY16;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_UNSUPPORTED, "array log_sum_exp: its elements are binary16");
  {
    static const size_t places[] = {offsetof(attest_results, output_low), offsetof(attest_results, weights_low),
                                    offsetof(attest_results, log_sum_exp_low), offsetof(attest_results, output_certificates),
                                    offsetof(attest_results, weights_certificates),
                                    offsetof(attest_results, log_sum_exp_certificates)};
    size_t i;
    for (i = 0; i < sizeof places / sizeof places[0]; i++) {
      const attest_result given = writes(lse, two_by_one);
      r = results();
      memcpy((char*)&r + places[i], &given, sizeof given);
      REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_UNSUPPORTED, ": a kernel does not give it");
    }
  }
}

static void values(void) {
  const attest_inputs in = inputs();
  const attest_results r = results();
  q[1] = NAN;
  out[0] = 42;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_VALUE, "array Q: element [0, 0, 1, 0] is NaN");
  CHECK(out[0] == 42);
  q[1] = 1e200;
  k[1] = 1e200;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_OVERFLOW, "overflows binary64");
  q[1] = 1;
  k[1] = 0.69314718055994531;
}

static void arguments(void) {
  attest_inputs in = inputs();
  attest_results r = results();
  attest_options o = no_options();
  REFUSED(attest_attention(ATTEST_STABLE, NULL, NULL, &r), ATTEST_ARGUMENT, "inputs is null");
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, NULL), ATTEST_ARGUMENT, "results is null");
  REFUSED(attest_attention(0, &in, NULL, &r), ATTEST_ARGUMENT, "kernel is 0");
  REFUSED(attest_attention(99, &in, NULL, &r), ATTEST_ARGUMENT, "kernel is 99");
  memset(&o, 0, sizeof o);
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_ARGUMENT, "options->size is 0: initialise it with ATTEST_OPTIONS_INIT");
  memset(&r, 0, sizeof r);
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_ARGUMENT, "results->size is 0: initialise it with ATTEST_RESULTS_INIT");
  r = results();
  in.q.dtype = 0;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_ARGUMENT, "array Q: its dtype is 0");
  in.q.dtype = 99;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_ARGUMENT, "array Q: its dtype is 99");
  in = inputs();
  in.q.shape = NULL;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_ARGUMENT, "array Q: its shape is null");
  in = inputs();
  o = no_options();
  o.corner = 3;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_ARGUMENT, "corner is 3");
  o = no_options();
  o.empty_row = -1;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_ARGUMENT, "empty_row is -1");
  o = no_options();
  o.threads = -2;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_ARGUMENT, "threads is -2");
  o = no_options();
  o.sinks = &one;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_ARGUMENT, "sinks_count is 0");
  o.sinks = NULL;
  o.sinks_count = 1;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_ARGUMENT, "sinks is null and sinks_count is 1");
}

/* Lists whose length is not that of the heads or of the batch are refused before anything of them is read: there is one
 * number, and a length that no memory has. */
static void lists(void) {
  const attest_inputs in = inputs();
  const attest_results r = results();
  const uint64_t length = 3;
  const size_t huge = (size_t)-1 / sizeof(double);
  attest_options o = no_options();
  o.sinks = &one;
  o.sinks_count = 2;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_SHAPE, "sinks_count is 2 and there are 1 query heads: give one for each");
  REFUSED(attest_certified_attention(&in, &o, &r, NULL, NULL), ATTEST_SHAPE, "sinks_count is 2 and there are 1 query heads");
  o.sinks_count = huge;
  REFUSED(attest_attention(ATTEST_FUSED, &in, &o, &r), ATTEST_SHAPE, " and there are 1 query heads");
  o = no_options();
  o.causal = 1;
  o.corner = ATTEST_TOP_LEFT;
  o.alibi_slopes = &one;
  o.alibi_slopes_count = huge;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_SHAPE, "and there are 1 query heads: give one for each");
  o = no_options();
  o.key_lengths = &length;
  o.key_lengths_count = 2;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_SHAPE,
          "key_lengths_count is 2 and there are 1 elements of the batch: give one for each");
  o.key_lengths_count = 1;
  CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
}

static int never_called(size_t done, size_t rows, void* user) {
  (void)done, (void)rows, (void)user;
  return 1;
}

/* Views that claim what no call could go through, memory that is not what it should be. */
static void views(void) {
  static double many[8];
  static const int64_t huge = (int64_t)1 << 40;
  const int64_t rows[2] = {huge, 1}, still[2] = {0, 0}, far[2] = {huge, 1}, two[2] = {2, 1};
  const int64_t most[2] = {INT64_MAX, INT64_MAX}, wide[2] = {1, huge};
  attest_inputs in = inputs();
  attest_results r = results();
  attest_options o = no_options();
  attest_certified_options how = ATTEST_CERTIFIED_OPTIONS_INIT;
  int kernel;

  /* 2^40 queries or keys in one element; the output says that it has as many rows. */
  how.progress = never_called;
  how.last_row = 1;
  in.q.shape = rows;
  in.q.strides = still;
  r.output.shape = rows;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_SHAPE, "to more than 2^24 elements in a head");
  for (kernel = ATTEST_NAIVE; kernel <= ATTEST_FUSED; kernel++)
    REFUSED(attest_attention(kernel, &in, NULL, &r), ATTEST_SHAPE, "to more than 2^24 elements in a head");
  in.q.shape = most;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_SHAPE, "array Q: shape [");
  in = inputs();
  r = results();
  in.k.shape = in.v.shape = rows;
  in.k.strides = in.v.strides = still;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_SHAPE, "array K: shape [1099511627776, 1] repeats");
  in = inputs();
  in.q.shape = wide;
  in.q.strides = still;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_SHAPE, "array Q: shape [1, 1099511627776] repeats");
  in = inputs();
  {
    const int64_t heads[4] = {1, (int64_t)1 << 33, 2, 1}, nowhere[4] = {0, 0, 1, 1};
    in.q.rank = 4;
    in.q.shape = heads;
    in.q.strides = nowhere;
    REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_SHAPE, "to more than 2^32 elements: give heads that share keys once");
  }
  {
    /* 2^25 elements in all, and no more than 2^12 in a head: it is the output that does not fit. */
    const int64_t heads[4] = {1, 1 << 13, 1 << 12, 1}, nowhere[4] = {0, 0, 0, 0};
    in.q.shape = heads;
    in.q.strides = nowhere;
    REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_SHAPE, "array output: shape [2, 1] is not the shape");
  }
  in = inputs();
  o.mask = reads(NULL, rows);
  o.mask.data = many;
  o.mask.dtype = ATTEST_BOOLEAN;
  o.mask.strides = still;
  REFUSED(attest_certified_attention(&in, &o, &r, &how, NULL), ATTEST_SHAPE, "array mask: shape");

  /* Strides that leave every memory. */
  in.k.strides = far;
  in.k.shape = rows;
  REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_SHAPE, "reach further than any memory does");
  {
    const int64_t beyond[2] = {1 << 18, 1}; /* 2^58 doubles */
    in.k.strides = beyond;
    REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_SHAPE, "reach further than any memory does");
  }
  in.k.strides = most;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_SHAPE, "reach further than any memory does");

  /* Strides alone are not all zero. */
  in = inputs();
  o = no_options();
  o.mask.strides = still;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &o, &r), ATTEST_ARGUMENT, "array mask: its dtype is 0");
  r.weights.strides = still;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_ARGUMENT, "array weights: its dtype is 0");

  /* Several elements of a result at one place, and results where other arrays are. */
  {
    const int64_t square[3] = {2, 2, 1}, steps[3] = {1, 1, 1}, three[3] = {2, 3, 1};
    r = results();
    in.q.rank = in.k.rank = in.v.rank = r.output.rank = 3;
    in.q.shape = r.output.shape = square;
    in.k.shape = in.v.shape = three;
    in.q.data = in.k.data = in.v.data = many;
    r.output.strides = steps;
    REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_SHAPE, "put several elements at one place");
  }
  in = inputs();
  r = results();
  r.output.data = q;
  REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_ARGUMENT, "array output is written to memory that array Q has");
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_ARGUMENT, "array output is written to memory that array Q has");
  r.output.data = v + 1;
  REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_ARGUMENT, "array output is written to memory that array V has");
  r = results();
  r.output_low = writes(out, two);
  r.output_low.dtype = ATTEST_BINARY32;
  REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_ARGUMENT, "array output_low is written to memory that array output has");
  /* Every other element of one memory each is no overlap. */
  {
    const int64_t other[2] = {2, 1};
    many[0] = 0, many[2] = 1;
    in.q.data = many;
    in.q.strides = other;
    r = results();
    r.output.data = many + 1;
    r.output.strides = other;
    CHECK(attest_certified_attention(&in, NULL, &r, NULL, NULL) == ATTEST_OK);
    CHECK(many[0] == 0 && many[1] == 3 && many[2] == 1 && many[3] == 2.75);
    r.output.data = many;
    REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_ARGUMENT, "array output is written to memory that array Q has");
  }

  /* Memory between two elements. */
  in = inputs();
  r = results();
  in.v.data = (const char*)many + 4;
  REFUSED(attest_attention(ATTEST_STABLE, &in, NULL, &r), ATTEST_ARGUMENT, "array V: its memory is not aligned to its elements of 8 bytes");
  in = inputs();
  r.output.data = (char*)many + 1;
  REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_ARGUMENT, "array output: its memory is not aligned");

  /* Rows that the call does not have. */
  r = results();
  how = (attest_certified_options)ATTEST_CERTIFIED_OPTIONS_INIT;
  how.first_row = 2;
  how.last_row = 1;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_OPTION, "first_row is 2 and last_row 1: ");
  how.first_row = 3;
  how.last_row = 0;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_OPTION, "first_row is 3 and last_row 0, and the call has 2 rows");
  how.first_row = 0;
  how.last_row = 3;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_OPTION, "first_row is 0 and last_row 3, and the call has 2 rows");
  how.first_row = how.last_row = 2;
  CHECK(attest_certified_attention(&in, NULL, &r, &how, NULL) == ATTEST_OK);
}

/* A caller compiled with an older header, whose structure is shorter, and one with a newer, whose structure is longer. */
static void versions(void) {
  const attest_inputs in = inputs();
  const attest_results r = results();
  struct {
    attest_options known;
    double later[2];
  } newer;
  attest_options older = no_options();
  char text[32];

  older.causal = 1;         /* known to that caller */
  older.corner = ATTEST_TOP_LEFT;
  older.sinks_count = 1234; /* not known: whatever stands there */
  older.size = offsetof(attest_options, window_left);
  CHECK(attest_attention(ATTEST_STABLE, &in, &older, &r) == ATTEST_OK);
  CHECK(near(out[0], 1));

  memset(&newer, 0, sizeof newer);
  newer.known.size = sizeof newer;
  CHECK(attest_attention(ATTEST_STABLE, &in, &newer.known, &r) == ATTEST_OK);
  newer.later[1] = 1;
  REFUSED(attest_attention(ATTEST_STABLE, &in, &newer.known, &r), ATTEST_ARGUMENT, "does not know");

  sprintf(text, "%d.%d.%d", ATTEST_VERSION_MAJOR, ATTEST_VERSION_MINOR, ATTEST_VERSION_PATCH);
  CHECK(strcmp(attest_version(), text) == 0);
}

static int interrupt_after(size_t done, size_t rows, void* user) {
  int* const calls = (int*)user;
  ++*calls;
  CHECK(done <= rows && rows == 2);
  return 1;
}

static void certified(void) {
  const attest_inputs in = inputs();
  attest_results r = results();
  attest_options o = no_options();
  attest_certified_options how = ATTEST_CERTIFIED_OPTIONS_INIT;
  attest_certification counts = ATTEST_CERTIFICATION_INIT;
  float low[2] = {42, 42};
  unsigned char certificates[2] = {42, 42};
  float single;
  int calls = 0;

  r.output_low = writes(NULL, two_by_one);
  r.output_low.data = low;
  r.output_low.dtype = ATTEST_BINARY32;
  r.output_certificates = writes(NULL, two_by_one);
  r.output_certificates.data = certificates;
  r.output_certificates.dtype = ATTEST_UINT8;
  CHECK(attest_certified_attention(&in, NULL, &r, NULL, &counts) == ATTEST_OK);
  CHECK(out[0] == 3 && low[0] == 0 && certificates[0] == ATTEST_EXACT);
  /* k[1] is below ln 2 by 2.319e-17, so its weight is w = 2 - d, d = 4.638e-17, and the output (1 + 2 w + 6) / (2 + w) is
   * 11/4 + 3/16 d. */
  CHECK(out[1] == 2.75 && fabs(low[1] - 8.6964e-18) < 1e-22 && certificates[1] == ATTEST_CERTIFIED);
  CHECK(counts.exact == 1 && counts.undecided == 0);
  CHECK(counts.settled[0] + counts.settled[1] + counts.settled[2] + counts.settled[3] == 2);

  /* Directed rounding, rows, tiers: the second row alone. */
  how.direction = ATTEST_UP;
  how.first_row = 1;
  how.last_row = 2;
  how.without_tiers = 1U << ATTEST_TIER_NARROW | 1U << ATTEST_TIER_DOUBLE_DOUBLE;
  out[0] = 42;
  r = results();
  CHECK(attest_certified_attention(&in, NULL, &r, &how, &counts) == ATTEST_OK);
  CHECK(out[0] == 42 && out[1] == 2.75 + 4.44089209850062616e-16); /* 2^-51 */
  CHECK(counts.settled[ATTEST_TIER_ENCLOSURE] == 1 && counts.settled[ATTEST_TIER_DOUBLE_DOUBLE] == 0);
  CHECK(counts.most_bits > 0);

  /* A caller with an older header gets as much of the counts as it knows. */
  counts.size = offsetof(attest_certification, exact);
  counts.exact = 1234;
  CHECK(attest_certified_attention(&in, NULL, &r, NULL, &counts) == ATTEST_OK);
  CHECK(counts.exact == 1234 && counts.size == offsetof(attest_certification, exact));

  {
    attest_certified_options stopped = ATTEST_CERTIFIED_OPTIONS_INIT;
    stopped.progress = interrupt_after;
    stopped.user = &calls;
    REFUSED(attest_certified_attention(&in, NULL, &r, &stopped, NULL), ATTEST_INTERRUPTED, "progress function");
    CHECK(calls == 1);
  }

  how = (attest_certified_options)ATTEST_CERTIFIED_OPTIONS_INIT;
  how.max_bits = 64;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_OPTION, "max_bits is 64");
  how.max_bits = 0;
  how.direction = 5;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_ARGUMENT, "direction is 5");
  how.direction = 0;
  how.without_tiers = 16;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_ARGUMENT, "without_tiers is 16");
  how.size = 0;
  REFUSED(attest_certified_attention(&in, NULL, &r, &how, NULL), ATTEST_ARGUMENT, "certified->size is 0");
  counts.size = 0;
  REFUSED(attest_certified_attention(&in, NULL, &r, NULL, &counts), ATTEST_ARGUMENT, "certification->size is 0");
  REFUSED(attest_certified_attention(NULL, NULL, &r, NULL, NULL), ATTEST_ARGUMENT, "inputs is null");
  REFUSED(attest_certified_attention(&in, NULL, NULL, NULL, NULL), ATTEST_ARGUMENT, "results is null");
  o.causal = 1;
  REFUSED(attest_certified_attention(&in, &o, &r, NULL, NULL), ATTEST_OPTION, "set corner");
  r.output_certificates = writes(out, two_by_one);
  REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_UNSUPPORTED, "certificates are uint8");
  r = results();
  q[0] = INFINITY;
  REFUSED(attest_certified_attention(&in, NULL, &r, NULL, NULL), ATTEST_VALUE, "array Q: element [0, 0, 0, 0] is infinity");
  q[0] = 0;
  /* What overflows the format is no error here: 3e300 is beyond binary32. */
  v[2] = 9e300;
  r.output.dtype = ATTEST_BINARY32;
  CHECK(attest_certified_attention(&in, NULL, &r, NULL, NULL) == ATTEST_OK);
  memcpy(&single, out, sizeof single);
  CHECK(isinf(single));
  how = (attest_certified_options)ATTEST_CERTIFIED_OPTIONS_INIT;
  how.saturate = 1;
  CHECK(attest_certified_attention(&in, NULL, &r, &how, NULL) == ATTEST_OK);
  memcpy(&single, out, sizeof single);
  CHECK(single == 3.40282346638528860e+38f);
  v[2] = 6;
}

/* A kernel's results against the exact ones: outputs (1 + 2 + 6) / 3 = 3 and, of the weights 1/4, 1/2, 1/4, 11/4 (but for
 * the rounding of ln 2, certified()); weighted |V| the same, as no value is negative. */
static void checks(void) {
  attest_inputs in = inputs();
  attest_options o = ATTEST_OPTIONS_INIT;
  attest_candidate c = ATTEST_CANDIDATE_INIT;
  attest_check_report r = ATTEST_CHECK_REPORT_INIT;
  const double bound = 2, negative = -1;
  const uint64_t ulps = 4;
  float single[2] = {3, 2.75f + 0x1p-10f};
  double sums[2] = {1.0986122886681098, 1.3862943611198906}; /* ln 3 and ln 4 */

  CHECK(strcmp(attest_last_report(), "") == 0);
  c.output = reads(out, two_by_one);
  out[0] = 3;
  out[1] = 2.75 + 8 * 0x1p-51; /* 8 ulps; in units of 2^-53 of 2.75 it is 32 / 2.75 = 11.636... */
  c.output_tolerance.ulp = &ulps;
  CHECK(attest_check_attention(&in, &o, &c, &r) == ATTEST_OK);
  CHECK(r.passed == 0 && r.output.judgement == ATTEST_FAILED && r.output.elements == 2);
  CHECK(r.output.different == 1 && r.output.failing == 1);
  CHECK(r.output.ulp_distance.value == 8 && r.output.ulp_distance.at == 1);
  CHECK(r.output.absolute_error.value == 8 * 0x1p-51 && r.output.absolute_error.at == 1);
  CHECK(isnan(r.output.weighted_error.value));
  CHECK(r.weights.judgement == 0 && r.log_sum_exp.judgement == 0);
  CHECK(strstr(attest_last_report(), "output [2, 1] in binary64: failed, 1 of 2 elements differs, at [1, 0]\n") != NULL);
  CHECK(strstr(attest_last_report(), "\n  past ulp 4: 1, at [1, 0]\n") != NULL);

  /* In units of the weighted |V|: of bfloat16 next to nothing, of binary64 past 2. */
  c.output_tolerance.ulp = NULL;
  c.output_tolerance.weighted_v = &bound;
  CHECK(attest_check_attention(&in, NULL, &c, &r) == ATTEST_OK && r.passed == 0);
  CHECK(fabs(r.output.weighted_error.value - 32 / 2.75) < 1e-9 && r.output.weighted_error.at == 1);
  c.output_tolerance.weighted_v_dtype = ATTEST_BFLOAT16;
  CHECK(attest_check_attention(&in, NULL, &c, &r) == ATTEST_OK && r.passed == 1);
  CHECK(r.output.judgement == ATTEST_PASSED);

  /* In float, with log-sum-exp: 2^-10 is an error of 2^12 ulps. */
  c.output.data = single;
  c.output.dtype = ATTEST_BINARY32;
  c.output_tolerance.weighted_v_dtype = 0;
  c.log_sum_exp = reads(sums, two_by_one);
  c.log_sum_exp_tolerance.ulp = &ulps;
  o.log_sum_exp_base = ATTEST_BASE_E;
  CHECK(attest_check_attention(&in, &o, &c, &r) == ATTEST_OK && r.passed == 0);
  CHECK(r.output.ulp_distance.value == 4096 && r.output.judgement == ATTEST_FAILED);
  CHECK(r.log_sum_exp.judgement == ATTEST_PASSED && r.log_sum_exp.elements == 2);
  single[1] = 2.75f;
  c.output_tolerance.weighted_v = NULL;
  CHECK(attest_check_attention(&in, &o, &c, &r) == ATTEST_OK && r.passed == 1);
  CHECK(r.output.judgement == ATTEST_EQUAL);
  single[1] = 2.5f;
  CHECK(attest_check_attention(&in, &o, &c, &r) == ATTEST_OK && r.passed == 0);
  CHECK(r.output.judgement == ATTEST_NOT_JUDGED);

  /* A caller that knows less of the report gets that. */
  r.size = offsetof(attest_check_report, weights);
  r.weights.judgement = 77;
  CHECK(attest_check_attention(&in, &o, &c, &r) == ATTEST_OK && r.weights.judgement == 77 && r.size < sizeof r);
  r.size = sizeof r;

  c.output_tolerance.absolute = &negative;
  REFUSED(attest_check_attention(&in, &o, &c, &r), ATTEST_OPTION, "array output: the tolerance absolute is -1.0");
  c.output_tolerance.absolute = NULL;
  c.log_sum_exp_tolerance.weighted_v = &bound;
  REFUSED(attest_check_attention(&in, &o, &c, &r), ATTEST_OPTION, "array log_sum_exp: a tolerance in units of the weighted |V|");
  c.log_sum_exp_tolerance.weighted_v = NULL;
  o.log_sum_exp_base = 0;
  REFUSED(attest_check_attention(&in, &o, &c, &r), ATTEST_OPTION, "array log_sum_exp: its base is not said");
  c.output.dtype = ATTEST_INT32;
  REFUSED(attest_check_attention(&in, &o, &c, &r), ATTEST_UNSUPPORTED, "array output: its elements are int32");
  c.output.rank = 5;
  REFUSED(attest_check_attention(&in, &o, &c, &r), ATTEST_SHAPE, "array output: its rank is 5");
  c.size = 0;
  REFUSED(attest_check_attention(&in, &o, &c, &r), ATTEST_ARGUMENT, "candidate->size is 0");
  r.size = 0;
  c.size = sizeof c;
  REFUSED(attest_check_attention(&in, &o, &c, &r), ATTEST_ARGUMENT, "report->size is 0");
  REFUSED(attest_check_attention(&in, &o, &c, NULL), ATTEST_ARGUMENT, "report is null");
  REFUSED(attest_check_attention(&in, &o, NULL, &r), ATTEST_ARGUMENT, "candidate is null");
  /* The report is still that of the last check that was one. */
  CHECK(strstr(attest_last_report(), "output [2, 1] in binary32: not judged") != NULL);
}

static void names(void) {
  int status, other;
  for (status = ATTEST_OK; status <= ATTEST_INTERNAL; status++)
    for (other = ATTEST_OK; other < status; other++)
      CHECK(strcmp(attest_status_name((attest_status)status), attest_status_name((attest_status)other)) != 0);
  CHECK(strcmp(attest_status_name(ATTEST_INTERNAL), "internal") == 0);
  CHECK(strcmp(attest_status_name((attest_status)(ATTEST_INTERNAL + 1)), "unknown") == 0);
}

int main(void) {
  CHECK(strcmp(attest_last_error(), "") == 0);
  answers();
  shapes();
  options();
  unsupported();
  values();
  arguments();
  lists();
  views();
  versions();
  certified();
  checks();
  names();
  if (failures == 0) printf("interface.c: all passed\n");
  return failures == 0 ? 0 : 1;
}
