#include <attest.h>

#include <stdio.h>

/* One query that sees two keys of equal score: the mean of their values. */
int main(void) {
  const float q[] = {1}, k[] = {2, 2}, v[] = {1, 3};
  float output[] = {0};
  const int64_t one[] = {1, 1}, two[] = {2, 1};
  const attest_inputs inputs = {
      {q, ATTEST_BINARY32, 2, one, NULL}, {k, ATTEST_BINARY32, 2, two, NULL}, {v, ATTEST_BINARY32, 2, two, NULL}};
  attest_results results = ATTEST_RESULTS_INIT;
  results.output.data = output;
  results.output.dtype = ATTEST_BINARY32;
  results.output.rank = 2;
  results.output.shape = one;
  if (attest_attention(ATTEST_STABLE, &inputs, NULL, &results) != ATTEST_OK) {
    fprintf(stderr, "%s\n", attest_last_error());
    return 1;
  }
  return output[0] == 2 ? 0 : 1;
}
