// What the reference library knows of the arrays: names, values, offsets against MPFR, exact decimals;
// fractions, integers past 2^53, weights far below the smallest double; the published file against the
// chapter's reference.
#include "catch.hpp"
#include "support/mpfr.hpp"

#include <attest/check/certified.hpp>
#include <attest/check/ulp.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/expected_arrays.hpp>
#include <attest/io/files.hpp>
#include <attest/reference/number_text.hpp>

#include <cmath>

using namespace attest;

namespace {

std::vector<certified_array> arrays_of(std::string_view text, unsigned digits = 50) {
  return certified_arrays(attention(io::read_case(text, "case.json").problem, {digits}));
}
std::vector<certified_array> chapter() {
  return arrays_of(io::read_file(ATTEST_SOURCE_DIR "/data/chapter15.json"));
}

// (x - nearest) / ulp(nearest) of the chapter's 1/(2r + 1), r = e^(1/sqrt(2)).
double chapter_offset(double nearest, int unit) {
  constexpr mpfr_prec_t precision = 300;
  const reference::real one(1, precision);
  const reference::real two(2, precision);
  reference::real root(precision);
  mpfr_sqrt(root.get(), two.get(), MPFR_RNDN);
  reference::real value(precision);
  mpfr_set_d(value.get(), nearest, MPFR_RNDN);
  const reference::real x = one / (two * exp(one / root) + one);
  return mpfr_get_d((x - value).times_power_of_two(-unit).get(), MPFR_RNDN);
}

bool near(double a, double b) { return std::fabs(a - b) <= 1e-12 * std::fabs(b); }

}  // namespace

TEST_CASE("the chapter's arrays") {
  const auto arrays = chapter();
  std::vector<std::string> names;
  for (const auto& a : arrays) names.push_back(a.name);
  CHECK(names == std::vector<std::string>{"Q", "K", "V", "dots", "weights", "output"});
  const certified_array& dots = arrays[3];
  CHECK(dots.reference.values == std::vector<double>{1, 0, 1, 1, 1, 2, 2, 1, 3});
  CHECK(dots.offsets == std::vector<double>(9, 0));
  CHECK_FALSE(dots.exact_decimal(8));
  const certified_array& weights = arrays[4];
  CHECK(weights.reference.shape == std::vector<std::size_t>{3, 3});
  CHECK(weights.reference.beyond.empty());
  CHECK(weights.reference.values[1] == 0.19777581464042818);
  CHECK(std::fabs(weights.offsets[1] - chapter_offset(0.19777581464042818, -55)) < 0x1p-53);
  CHECK(weights.exact_decimal(1) == "0.19777581464042817937197910737757091669905270504993");
}

TEST_CASE("the published file has one weight that is one ulp off") {
  const auto root = io::read_attention_v1(
      io::read_file(ATTEST_SOURCE_DIR "/tests/check/data/published_attention.json"), "published");
  const auto published = io::read_expected(root, "published", "");
  const auto arrays = chapter();
  REQUIRE(published.size() == arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    CHECK(published[i].name == arrays[i].name);
    const exact_tolerance twelve_places{io::read_exact("1e-12"), {}};
    for (const exact_tolerance& allowed : {twelve_places, exact_tolerance{{}, 1}, exact_tolerance{{}, 0}}) {
      const comparison c = compare_exact(arrays[i].reference, published[i].array, allowed, arrays[i].offsets);
      const bool weights = arrays[i].name == "weights";
      CHECK(c.passed() == !(weights && allowed.ulp == 0u));
      CHECK(c.different.count == (weights ? 1 : 0));
      if (!weights) continue;
      CHECK(c.different.first == 1);
      CHECK(c.ulp_distance->value == 1);
      CHECK(c.ulp_distance->at == 1);
      CHECK(c.absolute_error->value == 0x1p-55);
      CHECK(c.absolute_error->at == 1);
      CHECK(near(c.ulp_error->value, 1 - chapter_offset(0.19777581464042818, -55)));
      CHECK(c.against_exact);
      CHECK(published[i].array.values[1] == 0.1977758146404282);
    }
  }
}

TEST_CASE("fractions are rounded and have offsets, integers past 2^53 are exact") {
  const auto arrays =
      arrays_of(R"({"Q": [["1/3", "0x1.00000000000004p0"]], "K": [[9007199254740993, 1]], "V": [[1]]})", 20);
  const certified_array& q = arrays[0];
  CHECK(q.reference.beyond.empty());
  CHECK(q.reference.values == std::vector<double>{1.0 / 3, 1});
  CHECK(near(q.offsets[0], 1.0 / 3));  // 1/3 is a third of an ulp above its double
  CHECK(q.offsets[1] == 0.25);
  CHECK(q.exact_decimal(0) == "0.33333333333333333333");
  CHECK(q.exact_decimal(1) == "1.0000000000000000555");
  const certified_array& k = arrays[1];
  CHECK(k.reference.values[0] == 9007199254740992.0);
  CHECK(k.reference.beyond.size() == 1);
  CHECK(exact_text(k.reference.exact(0)) == "9007199254740993");
  CHECK(k.offsets[0] == 0.5);
  CHECK_FALSE(k.exact_decimal(1));
}

TEST_CASE("weights below the smallest double have no offset") {
  const auto arrays =
      arrays_of(R"({"Q": [[1]], "K": [[0], [-1000], [-1e9], [-1e300]], "V": [[0], [1], [1], [1]]})", 10);
  const certified_array& weights = arrays[4];
  for (const std::size_t i : {1u, 2u, 3u}) {
    CHECK(weights.reference.values[i] == 0);
    CHECK(weights.offsets[i] >= 0);
    CHECK(weights.offsets[i] < 1e-76);
  }
  CHECK(*weights.exact_decimal(1) == "5.075958898e-435");
  CHECK(weights.exact_decimal(3)->starts_with("<1e-"));
  const comparison zeros =
      compare_exact(weights.reference, {{1, 4}, {1, 0, 0, 0}, {}}, {{}, 0}, weights.offsets);
  CHECK(zeros.outcome == judgement::passed);
}

TEST_CASE("an offset just below a power of two has the finer ulp") {
  // 1/(1 + e^-d) is 1 - e^-d + ..., which for d = 40 is 1 - 4.2e-18, an offset of -0.019 to the double 1.
  const auto arrays = arrays_of(R"({"Q": [[1]], "K": [[40], [0]], "V": [[1], [0]]})");
  const certified_array& weights = arrays[4];
  CHECK(weights.reference.values[0] == 1);
  CHECK(near(weights.offsets[0], -std::exp(-40.0) * 0x1p52));
  CHECK(near(ulp_error(1, 1, weights.offsets[0]), std::exp(-40.0) * 0x1p53));
}

TEST_CASE("a batch is its examples, one after the other") {
  const auto one = [](const char* value) {
    const std::string text =
        R"({"Q": [[1, 2]], "K": [[9007199254740993, 1]], "V": [[")" + std::string(value) + R"("]]})";
    return attention(io::read_case(text, "case.json").problem, {20});
  };
  const std::vector<attention_reference> answers = {one("1/3"), one("2/3"), one("5")};
  const auto arrays = certified_batch(answers);
  REQUIRE(arrays.size() == 6);
  const certified_array& v = arrays[2];
  CHECK(v.name == "V");
  CHECK(v.reference.shape == std::vector<std::size_t>{3, 1, 1});
  CHECK(v.reference.values == std::vector<double>{1.0 / 3, 2.0 / 3, 5});
  CHECK(near(v.offsets[1], 1.0 / 3));
  CHECK(v.exact_decimal(1) == "0.66666666666666666667");
  CHECK_FALSE(v.exact_decimal(2));
  const certified_array& k = arrays[1];
  CHECK(k.reference.shape == std::vector<std::size_t>{3, 1, 2});
  CHECK(k.reference.beyond.size() == 3);
  CHECK(exact_text(k.reference.exact(4)) == "9007199254740993");
}
