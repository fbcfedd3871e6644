// The chapter's head through both kernels: the largest differences from the correctly rounded values are the
// recorded ones.
#include "catch.hpp"
#include "head.hpp"

using testing::call;

namespace {

call<double> chapter() {
  call<double> c;
  c.queries = c.keys = 3;
  c.key_width = c.value_width = 2;
  c.q = {1, 0, 0, 1, 1, 1};
  c.k = {1, 1, 0, 1, 1, 2};
  c.v = {1, 0, 1, 2, 2, 2};
  return c;
}

// From proofs/chapter15/15_6_binary64.cpp, where they are proved: numerals that read back as the correctly
// rounded doubles.
const std::vector<double> weights = {0.4011120926797859,  0.19777581464042818, 0.4011120926797859,
                                     0.24825507825772308, 0.24825507825772308, 0.5034898434845538,
                                     0.28399540974126003, 0.14002924504337802, 0.575975345215362};
const std::vector<double> outputs = {1.401112092679786,  1.1977758146404283, 1.5034898434845538,
                                     1.5034898434845538, 1.575975345215362,  1.43200918051748};

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("the chapter's X times its matrices is the head used here") {
  const double x[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  const double wk[2][2] = {{1, 1}, {0, 1}};
  const double wv[2][2] = {{1, 0}, {1, 2}};
  auto c = chapter();
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      CHECK(c.k[2 * i + j] == x[i][0] * wk[0][j] + x[i][1] * wk[1][j]);
      c.v[2 * i + j] = x[i][0] * wv[0][j] + x[i][1] * wv[1][j];
    }
  CHECK(c.v == chapter().v);
}

TEST_CASE("stable shows the recorded largest differences on the chapter's head") {
  const auto r = chapter().stable();
  CHECK(largest_difference(r.weights, weights) == 0x1p-53);  // 1.11e-16
  CHECK(largest_difference(r.output, outputs) == 0x1p-52);   // 2.22e-16
}

TEST_CASE("both kernels stay inside their bounds on the chapter's head") {
  CHECK(measure(chapter()).worst() <= 1);
  CHECK(measure(chapter(), testing::which::naive).worst() <= 1);
  const auto r = chapter().naive();
  CHECK(largest_difference(r.weights, weights) <= 0x1p-52);
  CHECK(largest_difference(r.output, outputs) <= 0x1p-51);
}

TEST_CASE("the chapter's head in binary32") {
  const auto d = chapter();
  call<float> c;
  c.queries = c.keys = 3;
  c.key_width = c.value_width = 2;
  c.q.assign(d.q.begin(), d.q.end());
  c.k.assign(d.k.begin(), d.k.end());
  c.v.assign(d.v.begin(), d.v.end());
  CHECK(largest_difference(c.stable().weights, weights) <= 0x1p-23);
  CHECK(largest_difference(c.stable().output, outputs) <= 0x1p-22);
  CHECK(measure(c).worst() <= 1);
}
