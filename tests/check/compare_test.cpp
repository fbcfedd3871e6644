// Verdicts with and without tolerances; tolerances met exactly; NaN, infinity, shapes, signs of zeros; which
// element is the largest; exact numbers past binary64; tolerances without power; bad arguments; the caller's
// rounding mode; describe().
#include "catch.hpp"

#include <attest/check/certified.hpp>
#include <attest/io/number.hpp>

#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

using namespace attest;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

comparison compared(const std::vector<double>& reference, const std::vector<double>& candidate,
                    const tolerance& allowed = {}) {
  const std::vector<std::size_t> shape = {reference.size()};
  return compare({shape, reference}, {shape, candidate}, allowed);
}

// Exact numbers, as io::read_exact() reads them.
exact_array exact_row(const std::vector<std::string>& elements) {
  exact_array result{{elements.size()}, {}, {}};
  for (const std::string& text : elements) {
    const exact_scalar x = io::read_exact(text);
    const double nearest = std::strtod(text.c_str(), nullptr);
    if (!std::isfinite(nearest) || exact_scalar(exact_value<unbounded_integer>(nearest)) != x)
      result.beyond.emplace(result.values.size(), x);
    result.values.push_back(nearest);
  }
  return result;
}
comparison exactly_compared(const std::string& reference, const std::string& candidate,
                            const std::string& absolute) {
  return compare_exact(exact_row({reference}), exact_row({candidate}),
                       {io::read_exact(absolute), std::nullopt});
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("without a tolerance equal arrays are equal, and others are not judged") {
  const comparison same = compared({1, 2, 0.25}, {1, 2, 0.25});
  CHECK(same.outcome == judgement::equal);
  CHECK(same.passed());
  CHECK(same.different.count == 0);
  CHECK(same.absolute_error->value == 0);
  CHECK(same.ulp_distance->value == 0);
  CHECK(same.ulp_error->value == 0);
  CHECK_FALSE(same.against_exact);

  const comparison other = compared({1, 2, 0.25}, {1, 2, 0.5});
  CHECK(other.outcome == judgement::not_judged);
  CHECK_FALSE(other.passed());
  CHECK(other.different.count == 1);
  CHECK(other.different.first == 2);
  CHECK(other.absolute_error->value == 0.25);
  CHECK(other.past_absolute.count == 0);
}

TEST_CASE("a tolerance is met exactly or it is not") {
  const double above_one = 0x1.0000000000001p0;
  CHECK(compared({1}, {above_one}, {.ulp = 1}).outcome == judgement::passed);
  CHECK(compared({1}, {above_one}, {.ulp = 0}).outcome == judgement::failed);
  CHECK(compared({1}, {1}, {.ulp = 0}).outcome == judgement::passed);
  CHECK(compared({1}, {above_one}, {.absolute = 0x1p-52}).outcome == judgement::passed);
  CHECK(compared({1}, {above_one}, {.absolute = 0x1.fffffffffffffp-53}).outcome == judgement::failed);
  CHECK(compared({1}, {1}, {.absolute = 0}).outcome == judgement::passed);
  CHECK(compared({0}, {0x1p-1074}, {.absolute = 0}).outcome == judgement::failed);
  CHECK(compared({-1}, {1}, {.absolute = 2}).outcome == judgement::passed);

  // Both must hold.
  CHECK(compared({1}, {above_one}, {.absolute = 1, .ulp = 1}).outcome == judgement::passed);
  CHECK(compared({1}, {above_one}, {.absolute = 1, .ulp = 0}).outcome == judgement::failed);
  CHECK(compared({1}, {above_one}, {.absolute = 0, .ulp = 1}).outcome == judgement::failed);

  // 1 - 2^-60 rounds to 1, as do these tolerances.
  CHECK(exactly_compared("1", "0x1p-60", "1").outcome == judgement::passed);
  CHECK(exactly_compared("1", "0x1p-60", "0x0.fffffffffffffff0p0").outcome == judgement::passed);
  CHECK(exactly_compared("1", "0x1p-60", "0x0.ffffffffffffffe0p0").outcome == judgement::failed);
  CHECK(compared({1}, {0x1p-60}, {.absolute = 1}).outcome == judgement::passed);
  CHECK(compared({0x1p-60}, {-1}, {.absolute = 1}).outcome == judgement::failed);
  // The double 0.1 lies above 1/10; a tolerance that is a double does not.
  CHECK(exactly_compared("0", "0x1.999999999999ap-4", "0.1").outcome == judgement::failed);
  CHECK(compared({0}, {0.1}, {.absolute = 0.1}).outcome == judgement::passed);
  CHECK(exactly_compared("0", "1/3", "1/3").outcome == judgement::passed);
  CHECK(exactly_compared("0", "1/3", "0.3333333333333333333333333333").outcome == judgement::failed);
  // The difference overflows binary64, and the tolerance is larger still.
  const std::string largest = "0x1.fffffffffffffp1023";
  CHECK(exactly_compared(std::string(1, '-').append(largest), largest, "1e309").outcome == judgement::passed);
  CHECK(exactly_compared(std::string(1, '-').append(largest), largest, "2e308").outcome == judgement::failed);
}

TEST_CASE("one element of many is enough") {
  std::vector<double> reference;
  for (int i = 0; i < 6144; ++i) reference.push_back(std::sin(i));
  std::vector<double> candidate = reference;
  candidate[4711] += 1.75;
  const std::vector<std::size_t> shape = {2, 48, 64};
  const comparison c = compare({shape, reference}, {shape, candidate}, {.absolute = 1.5});
  CHECK(c.outcome == judgement::failed);
  CHECK(c.past_absolute.count == 1);
  CHECK(c.past_absolute.first == 4711);
  CHECK(index_text(c.shape, 4711) == "[1, 25, 39]");
  CHECK(c.different.count == 1);
  CHECK(c.absolute_error->at == 4711);
  CHECK(compare({shape, reference}, {shape, candidate}, {.absolute = 2}).outcome == judgement::passed);
}

TEST_CASE("NaN in one array alone fails, whichever it is") {
  for (const tolerance& allowed : {tolerance{}, tolerance{1e300, {}}, tolerance{{}, ~std::uint64_t{0}}}) {
    for (const bool in_candidate : {false, true}) {
      const std::vector<double> plain = {1, 2, 3, 4};
      const std::vector<double> with_nan = {1, nan_value, 3, nan_value};
      const comparison c =
          in_candidate ? compared(plain, with_nan, allowed) : compared(with_nan, plain, allowed);
      CHECK(c.outcome == judgement::failed);
      CHECK(c.nan_mismatches.count == 2);
      CHECK(c.nan_mismatches.first == 1);
      CHECK(c.different.count == 2);
      CHECK(c.absolute_error->value == 0);
    }
  }
  const comparison both = compared({nan_value, 1}, {-nan_value, 1}, {.ulp = 0});
  CHECK(both.outcome == judgement::passed);
  CHECK(both.nan_mismatches.count == 0);
  CHECK(both.different.count == 0);
  const comparison nothing_else = compared({nan_value}, {nan_value});
  CHECK(nothing_else.outcome == judgement::equal);
  CHECK_FALSE(nothing_else.absolute_error);
  CHECK_FALSE(nothing_else.ulp_distance);
  CHECK_FALSE(nothing_else.ulp_error);
  CHECK(compared({nan_value}, {infinity}).nan_mismatches.count == 1);
}

TEST_CASE("infinity in one array alone fails, though it is one ulp from the largest number") {
  constexpr double largest = std::numeric_limits<double>::max();
  for (const tolerance& allowed : {tolerance{}, tolerance{1e300, {}}, tolerance{{}, 1}}) {
    CHECK(compared({largest}, {infinity}, allowed).outcome == judgement::failed);
    CHECK(compared({infinity}, {largest}, allowed).outcome == judgement::failed);
    CHECK(compared({infinity}, {-infinity}, allowed).outcome == judgement::failed);
    CHECK(compared({-infinity}, {-infinity}, allowed).passed());
  }
  const comparison c =
      compared({1, infinity, -infinity, 0}, {1, infinity, infinity, -infinity}, {.absolute = 1});
  CHECK(c.infinity_mismatches.count == 2);
  CHECK(c.infinity_mismatches.first == 2);
  CHECK(c.different.count == 2);
  CHECK(c.past_absolute.count == 2);
}

TEST_CASE("another shape fails, and nothing else is said") {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const std::vector<std::size_t> wide = {2, 3};
  const std::vector<std::size_t> tall = {3, 2};
  const std::vector<std::size_t> deep = {1, 2, 3};
  for (const auto& other : {tall, deep}) {
    const comparison c = compare({wide, values}, {other, values}, {.absolute = 100});
    CHECK(c.outcome == judgement::failed);
    CHECK_FALSE(c.same_shape());
    CHECK_FALSE(c.absolute_error);
    CHECK(c.different.count == 0);
  }
  const comparison c = compare({wide, values}, {tall, values}, {});
  CHECK(describe(c) == "failed: the shape is [3, 2], and the reference's is [2, 3]");
}

TEST_CASE("signs of zeros are told and are no difference") {
  const comparison c = compared({0, -0.0, 0, 1}, {-0.0, 0, 0, -1}, {.absolute = 2});
  CHECK(c.outcome == judgement::passed);
  CHECK(c.zero_signs.count == 2);
  CHECK(c.zero_signs.first == 0);
  CHECK(c.different.count == 1);
  CHECK(compared({0}, {-0.0}).outcome == judgement::equal);
  CHECK(compared({0}, {-0.0}, {.absolute = 0, .ulp = 0}).outcome == judgement::passed);
}

TEST_CASE("the largest error is the first of the exactly largest") {
  CHECK(compared({0, 0, 0}, {1, -2, 2}).absolute_error->at == 1);
  CHECK(compared({0, 0, 0}, {1, -2, 2}).absolute_error->value == 2);
  // 1 - 2^-60 and 1, which round alike.
  const comparison c = compared({1, 1}, {0x1p-60, 0});
  CHECK(c.absolute_error->value == 1);
  CHECK(c.absolute_error->at == 1);
  // Each measure has its own element.
  const comparison each = compared({1024, 1, 0}, {1024.5, 1 + 0x1p-10, 0x1p-1074});
  CHECK(each.absolute_error->at == 0);
  CHECK(each.ulp_distance->at == 1);
  CHECK(each.ulp_distance->value == std::uint64_t{1} << 42);
  CHECK(each.ulp_error->at == 1);
}

TEST_CASE("ulp errors are against the exact numbers where their offsets are given") {
  const std::vector<std::size_t> shape = {2};
  const std::vector<double> reference = {1.5, 4};
  const std::vector<double> candidate = {1.5, 0x1.fffffffffffffp1};  // 4 less an ulp of what is below it
  const std::vector<double> offsets = {0.25, -0.375};                // 4 - 0.75 such ulps
  const comparison c = compare({shape, reference}, {shape, candidate}, {.ulp = 1}, offsets);
  CHECK(c.against_exact);
  CHECK(c.ulp_error->value == 0.25);
  CHECK(c.ulp_error->at == 0);
  CHECK(c.ulp_distance->at == 1);
  CHECK(compare({shape, reference}, {shape, reference}, {}, offsets).ulp_error->value == 0.75);
  CHECK(compare({shape, reference}, {shape, reference}, {}).ulp_error->value == 0);
}

TEST_CASE("integers past 2^53 and other exact numbers differ where their doubles do not") {
  const comparison c =
      compare_exact(exact_row({"9007199254740993"}), exact_row({"9007199254740992"}), {{}, 0});
  CHECK(c.outcome == judgement::passed);
  CHECK(c.ulp_distance->value == 0);
  CHECK(c.different.count == 1);
  CHECK(c.absolute_error->value == 1);
  CHECK(exactly_compared("9007199254740993", "9007199254740992", "0").outcome == judgement::failed);
  CHECK(exactly_compared("9007199254740993", "9007199254740993", "0").outcome == judgement::passed);
  CHECK(compare_exact(exact_row({"9007199254740993"}), exact_row({"9007199254740992"}), {}).outcome ==
        judgement::not_judged);
  // An integer that overflows is finite; as a double it is infinite, and that is the right one.
  const std::string huge = std::string(1, '1').append(400, '0');
  CHECK(compare_exact(exact_row({huge}), exact_row({huge}), {io::read_exact("0"), 0}).outcome ==
        judgement::passed);
  exact_array overflown{{1}, {infinity}, {}};
  CHECK(compare_exact(exact_row({huge}), overflown, {{}, 0}).outcome == judgement::passed);
  CHECK(compare_exact(exact_row({huge}), overflown, {{}, 0}).different.count == 1);
  CHECK(compare_exact(exact_row({huge}), overflown, {io::read_exact(huge), {}}).outcome == judgement::failed);
  CHECK(compare_exact(exact_row({huge}), exact_row({std::string(1, '-').append(huge)}), {io::read_exact("3e400"), {}})
            .outcome == judgement::failed);
  // Exact differences that only exact arithmetic tells apart.
  const comparison far = compare_exact(exact_row({"0", "0"}), exact_row({huge + "0", huge + "1"}), {});
  CHECK(far.absolute_error->value == infinity);
  CHECK(far.absolute_error->at == 1);
}

TEST_CASE("tolerances without power") {
  CHECK(compared({0.25, -1}, {0.25, -1}, {.absolute = 1}).blind == blind_spot::zeros);
  CHECK(compared({0.25, -1}, {0.25, -1}, {.absolute = 0.999}).blind == blind_spot::constant);
  CHECK(compared({0.25, -1}, {0.25, -1}, {.absolute = 0.625}).blind == blind_spot::constant);
  CHECK(compared({0.25, -1}, {0.25, -1}, {.absolute = 0.624}).blind == blind_spot::none);
  // From the reports: V in [0.5, 1] and 0.5, so that 0.75 passes; equal logits and 1e-2.
  CHECK(compared({0.5, 0.6, 1}, {0.75, 0.75, 0.75}, {.absolute = 0.5}).outcome == judgement::passed);
  CHECK(compared({0.5, 0.6, 1}, {0.75, 0.75, 0.75}, {.absolute = 0.5}).blind == blind_spot::constant);
  CHECK(compared({1.0 / 393216, 1.0 / 393216}, {0, 0}, {.absolute = 1e-2}).blind == blind_spot::zeros);
  CHECK(compared({3, 3}, {3, 3}, {.absolute = 1}).blind == blind_spot::none);
  CHECK(compared({0, 0}, {0, 0}, {.absolute = 1}).blind == blind_spot::none);
  CHECK(compared({0.25, infinity}, {0.25, infinity}, {.absolute = 1}).blind == blind_spot::none);
  CHECK(compared({0.25}, {0.25}, {.ulp = 1}).blind == blind_spot::none);
}

TEST_CASE("arguments that make no sense are refused") {
  CHECK(message([] { compared({1}, {1}, {.absolute = -1}); }) ==
        "an absolute tolerance is a finite number that is not negative");
  CHECK(message([] { compared({1}, {1}, {.absolute = nan_value}); }) ==
        "an absolute tolerance is a finite number that is not negative");
  CHECK(message([] { compared({1}, {1}, {.absolute = infinity}); }) ==
        "an absolute tolerance is a finite number that is not negative");
  CHECK(message([] { exactly_compared("1", "1", "-1/3"); }) == "the absolute tolerance is negative");
  CHECK(message([] { compared({}, {}); }) == "the reference has no elements: nothing to compare");
  const std::vector<double> values = {1, 2};
  const std::vector<std::size_t> two = {2};
  const std::vector<std::size_t> three = {3};
  const std::vector<std::size_t> huge = {std::size_t{1} << 40, std::size_t{1} << 40};
  CHECK(message([&] {
          compare({two, values}, {three, values}, {});
        }) == "the candidate has 2 values, and its shape is [3]");
  CHECK(message([&] {
          compare({huge, values}, {two, values}, {});
        }) == "a shape has too many elements: [1099511627776, 1099511627776]");
  CHECK(message([&] {
          compare({two, values}, {two, values}, {}, std::span<const double>(values).first(1));
        }) == "there are 1 offsets for 2 elements");
}

TEST_CASE("the caller's rounding mode changes nothing, and stays") {
  const std::vector<double> reference = {1, 0.1};
  const std::vector<double> candidate = {0x1p-60, 0.3};
  const comparison nearest = compared(reference, candidate, {.absolute = 1});
  std::fesetround(FE_DOWNWARD);
  const comparison down = compared(reference, candidate, {.absolute = 1});
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(after == FE_DOWNWARD);
  CHECK(down.outcome == nearest.outcome);
  CHECK(down.absolute_error->value == nearest.absolute_error->value);
  CHECK(down.absolute_error->value == 1);
  CHECK(down.ulp_error->value == nearest.ulp_error->value);
}

TEST_CASE("shapes, indices and the comparison in words") {
  const std::vector<std::size_t> shape = {2, 3, 4, 5};
  CHECK(shape_text(shape) == "[2, 3, 4, 5]");
  CHECK(index_text(shape, 0) == "[0, 0, 0, 0]");
  CHECK(index_text(shape, 119) == "[1, 2, 3, 4]");
  CHECK(index_text(shape, 47) == "[0, 2, 1, 2]");
  CHECK(std::string(name_of(judgement::passed)) == "passed");
  CHECK(std::string(name_of(judgement::failed)) == "failed");
  CHECK(std::string(name_of(judgement::equal)) == "equal");
  CHECK(std::string(name_of(judgement::not_judged)) == "not judged");
  CHECK(describe(compared({1, 2}, {1, 2}, {.ulp = 0})) == "passed: 0 of 2 elements differ");
  CHECK(describe(compared({1, 2, 3, 4}, {1, nan_value, infinity, 4.5}, {.absolute = 0.25, .ulp = 1})) ==
        "failed: 3 of 4 elements differ, absolute error 0.5 at [3], ulp distance 562949953421312 at [3], ulp "
        "error "
        "562949953421312 at [3]; 1 NaN in one array alone, first at [1]; 1 infinity in one array alone, "
        "first at [2]; 2 "
        "past the absolute tolerance, first at [2]; 2 past the ulp tolerance, first at [2]");
}
