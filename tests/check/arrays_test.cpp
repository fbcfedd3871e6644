// Arrays of any format against references.
// - rounding of high + low: against the hardware's conversion to binary32, and between all neighbours of the
// narrow formats
// - patterns: of every number of the formats of 8 and 16 bits
// - what is measured, on arrays small enough for arithmetic by hand
// - layouts, quantiles, enclosures
#include "catch.hpp"

#include <attest/check/arrays.hpp>
#include <attest/check/ulp.hpp>
#include <attest/exact/decimal.hpp>

#include <bit>
#include <cmath>
#include <limits>

using namespace attest;

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();

const format* const narrow[] = {&formats::float8_e4m3fn,   &formats::float8_e5m2, &formats::float8_e4m3fnuz,
                                &formats::float8_e5m2fnuz, &formats::bfloat16,    &formats::binary16};

double value_of(std::uint64_t pattern, const format& f) {
  const decoded d = decode(pattern, f);
  if (d.kind == number_kind::not_a_number) return not_a_number;
  const double magnitude =
      d.kind == number_kind::infinite ? infinity : std::ldexp(static_cast<double>(d.significand), d.exponent);
  return d.negative ? -magnitude : magnitude;
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

array_comparison compared(const std::vector<double>& high, const std::vector<double>& candidate,
                          const format* written, const format* f, const array_tolerance& allowed = {},
                          const std::vector<double>& low = {}) {
  const std::vector<std::size_t> shape{high.size()};
  return compare_arrays({shape, high, low, written, false}, {shape, candidate}, f, allowed);
}

}  // namespace

TEST_CASE("patterns of numbers, and numbers rounded to themselves") {
  for (const format* f : narrow) {
    INFO(f->name);
    std::size_t wrong = 0;
    for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << f->storage_bits; ++pattern) {
      const double x = value_of(pattern, *f);
      if (std::isnan(x)) continue;
      wrong += pattern_of(x, *f) == pattern && same(rounded_to(x, 0, *f), x) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(pattern_of(not_a_number, *f) == f->quiet_nan);
  }
  CHECK(pattern_of(-0.0, formats::float8_e4m3fnuz) == 0);
  CHECK(pattern_of(1.5, formats::binary64) == std::bit_cast<std::uint64_t>(1.5));
  CHECK(pattern_of(-0x1p-1074, formats::binary64) == std::bit_cast<std::uint64_t>(-0x1p-1074));
}

TEST_CASE("rounding between neighbours, with and without a low word") {
  for (const format* f : narrow) {
    INFO(f->name);
    std::size_t wrong = 0;
    for (std::uint64_t pattern = 0; pattern < f->largest; ++pattern) {
      const double below = value_of(pattern, *f);
      const double above = value_of(pattern + 1, *f);
      const double middle = (below + above) / 2;  // exact: one bit more
      const double even = pattern % 2 == 0 ? below : above;
      const double tiny = std::ldexp(middle, -60);
      const auto check = [&](double high, double low, double wanted) {
        wrong += same(rounded_to(high, low, *f), wanted) ? 0 : 1;
        const bool no_sign = wanted == 0 && !f->has_negative_zero;
        wrong += same(rounded_to(-high, -low, *f), no_sign ? 0 : -wanted) ? 0 : 1;
      };
      check(middle, 0, even);
      check(middle, tiny, above);
      check(middle, -tiny, below);
      check(std::nextafter(middle, infinity), 0, above);
      check(std::nextafter(middle, 0), 0, below);
      check(above, -tiny, above);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("rounding is the hardware's where that has the format") {
  std::uint64_t state = 1;
  std::size_t wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t bits = state ^ state >> 29;
    // All exponents of binary32, its subnormals, and what overflows it.
    const double x =
        std::ldexp(1 + static_cast<double>(bits >> 12) * 0x1p-52, static_cast<int>(bits % 300) - 160) *
        ((bits & 4096) != 0 ? 1 : -1);
    wrong += same(rounded_to(x, 0, formats::binary32), static_cast<double>(static_cast<float>(x))) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("overflow") {
  // The largest e4m3fn is 448, its ulp 32: 464 is half way to where 480 would be, and 448 = 14·32 is even.
  CHECK(rounded_to(464, 0, formats::float8_e4m3fn) == 448);
  CHECK(std::isnan(rounded_to(465, 0, formats::float8_e4m3fn)));
  CHECK(std::isnan(rounded_to(464, 0x1p-50, formats::float8_e4m3fn)));
  CHECK(rounded_to(465, 0, formats::float8_e4m3fn, true) == 448);
  CHECK(rounded_to(-1e300, 0, formats::float8_e5m2) == -infinity);
  CHECK(rounded_to(-1e300, 0, formats::float8_e5m2, true) == -57344);
  CHECK(rounded_to(-infinity, 0, formats::float8_e4m3fnuz, true) == -240);
  CHECK(std::isnan(rounded_to(infinity, 0, formats::float8_e4m3fnuz)));
  CHECK(rounded_to(infinity, 0, formats::binary16) == infinity);
  CHECK(std::isnan(rounded_to(not_a_number, 0, formats::binary16)));
}

TEST_CASE("a candidate in a narrower format") {
  // bfloat16 has 8 bits: the ulp is 2^-7 in [1, 2). 1 + 2^-8 is a tie, which goes to 1; with a low word it
  // goes up.
  const double tie = 1 + 0x1p-8;
  const auto plain = compared({tie, 1.5}, {1, 1.5}, &formats::binary64, &formats::bfloat16, {{}, 0});
  CHECK(plain.outcome == judgement::passed);
  CHECK(plain.measure == &formats::bfloat16);
  CHECK(plain.correctly_rounded == 2);
  CHECK_FALSE(plain.against_exact);
  CHECK(plain.ulp_error->value == 0.5);
  CHECK(plain.absolute_error->value == 0x1p-8);
  const auto with_low =
      compared({tie, 1.5}, {1, 1.5}, &formats::binary64, &formats::bfloat16, {{}, 0}, {0x1p-60, 0});
  CHECK(with_low.outcome == judgement::failed);
  CHECK(with_low.correctly_rounded == 1);
  CHECK(with_low.ulp_distance->value == 1);
  CHECK(with_low.against_exact);
  CHECK(with_low.worst == std::vector<std::size_t>{0, 1});
  // 0.06 is less than 1/16, what 16.0625 has to 16; the ulp of bfloat16 is 1/8 in [16, 32), so that nothing
  // is nearer.
  const auto hopeless = compared({16.0625}, {16}, &formats::binary64, &formats::bfloat16,
                                 {exact_scalar(exact_value<unbounded_integer>(0.06)), {}});
  CHECK(hopeless.outcome == judgement::failed);
  CHECK(hopeless.cannot_hold.count == 1);
}

TEST_CASE("a candidate in the reference's format, and in a wider one") {
  const auto narrow_reference =
      compared({1.0, 2.0}, {1 + 0x1p-20, 2.0}, &formats::bfloat16, &formats::binary32, {{}, 8});
  CHECK(narrow_reference.outcome == judgement::passed);  // 2^-20 is 8 ulps of binary32
  CHECK(narrow_reference.ulp_distance->value == 8);
  CHECK(compared({1.0}, {1 + 0x1p-20}, &formats::bfloat16, &formats::binary32, {{}, 7}).outcome ==
        judgement::failed);
  CHECK(compared({1.0}, {1.0}, &formats::bfloat16, &formats::bfloat16).outcome == judgement::equal);
  CHECK(compared({3.0}, {4.0}, nullptr, nullptr).measure == &formats::binary64);
}

TEST_CASE("a narrow reference with low words, a candidate in a wider format") {
  // high + low = 1 - 2^-9 + 2^-33: to binary32 that is 1 - 2^-9, as 2^-33 is below half its ulp there, 2^-25.
  CHECK(rounded_to(1, -0x1p-9 + 0x1p-33, formats::binary32) == 1 - 0x1p-9);
  CHECK(rounded_to(-1, 0x1p-9, formats::binary32) == -1 + 0x1p-9);
  CHECK(rounded_to(1, 0x1p-30, formats::binary64) == 1 + 0x1p-30);
  const auto c = compared({1}, {1 - 0x1p-9}, &formats::bfloat16, &formats::binary32, {{}, 0}, {-0x1p-9});
  CHECK(c.outcome == judgement::passed);
  CHECK(c.ulp_error->value == 0);
}

TEST_CASE("NaN, infinity and zeros") {
  const auto c =
      compared({not_a_number, 1, infinity, 0.0, -infinity}, {not_a_number, not_a_number, infinity, -0.0, 1},
               &formats::binary32, &formats::binary32, {exact_scalar(unbounded_dyadic(1000)), 1000});
  CHECK(c.outcome == judgement::failed);
  CHECK(c.nan_mismatches.count == 1);
  CHECK(c.nan_mismatches.first == 1);
  CHECK(c.infinity_mismatches.count == 1);
  CHECK(c.infinity_mismatches.first == 4);
  CHECK(c.zero_signs.first == 3);
  CHECK(c.correctly_rounded == 3);
  CHECK(compared({not_a_number}, {1}, &formats::binary32, &formats::binary32).outcome == judgement::failed);
  CHECK(compared({1}, {not_a_number}, &formats::binary32, &formats::binary32).outcome == judgement::failed);
  // What overflows e4m3fn has to be NaN there.
  CHECK(compared({1000}, {not_a_number}, &formats::binary64, &formats::float8_e4m3fn, {{}, 0}).outcome ==
        judgement::passed);
}

TEST_CASE("tolerances are decided exactly") {
  const auto within = [](double r, double c, double allowed) {
    return compared({r}, {c}, &formats::binary64, &formats::binary64,
                    {exact_scalar(exact_value<unbounded_integer>(allowed)), {}})
        .passed();
  };
  CHECK(within(1, 1 + 0x1p-52, 0x1p-52));
  CHECK_FALSE(within(1, 1 + 0x1p-52, std::nextafter(0x1p-52, 0)));
  // 1 - (-2^-60) = 1 + 2^-60, which rounds to 1.
  CHECK_FALSE(within(1, -0x1p-60, 1));
  CHECK(within(1, 0x1p-60, 1));
  CHECK_FALSE(within(0x1p-1074, 0, 0));
}

TEST_CASE("arrays: tolerances without power") {
  const auto blind = [](const std::vector<double>& r, double allowed) {
    return compared(r, r, &formats::binary32, &formats::binary32,
                    {exact_scalar(exact_value<unbounded_integer>(allowed)), {}})
        .blind;
  };
  CHECK(blind({0.5, -0.25}, 0.5) == blind_spot::zeros);
  CHECK(blind({0.5, 1}, 0.25) == blind_spot::constant);
  CHECK(blind({0.5, 1}, 0.24) == blind_spot::none);
}

TEST_CASE("layouts") {
  const std::vector<std::size_t> shape{1, 2, 3, 1};
  const std::vector<double> r{1, 2, 3, 4, 5, 6};
  const std::vector<double> transposed{1, 4, 2, 5, 3, 6};
  const std::vector<std::size_t> moved{1, 3, 2, 1};
  CHECK(fitting_layout({shape, r}, {moved, transposed}) == "[B, T, H, d]");
  CHECK(fitting_layout({shape, r}, {shape, transposed}) ==
        "[B, T, H, d]");  // the same bytes under the reference's shape
  CHECK(fitting_layout({shape, r}, {shape, r}) == std::nullopt);
  CHECK(fitting_layout({shape, r}, {moved, r}) == std::nullopt);
  const std::vector<std::size_t> heads_first{2, 1, 3, 1};
  CHECK(fitting_layout({shape, r}, {heads_first, r}) == "[H, B, T, d]");
  const std::vector<double> wrong{1, 4, 2, 5, 3, 7};
  CHECK(fitting_layout({shape, r}, {moved, wrong}) == std::nullopt);
  const std::vector<double> zeros(6, 0.0);
  CHECK(fitting_layout({shape, zeros}, {moved, zeros}) == std::nullopt);
  const std::vector<std::size_t> three{2, 3, 1};
  const std::vector<std::size_t> three_moved{3, 2, 1};
  CHECK(fitting_layout({three, r}, {three_moved, transposed}) == "[T, B, d]");
}

TEST_CASE("quantiles by nearest rank") {
  std::vector<double> errors;
  for (int i = 1000; i > 0; --i) errors.push_back(i);
  CHECK(quantiles_of(errors) == std::array<double, 4>{500, 900, 990, 999});
  CHECK(quantiles_of({3, 1, 2}) == std::array<double, 4>{2, 3, 3, 3});
  CHECK(quantiles_of({}) == std::array<double, 4>{0, 0, 0, 0});
}

TEST_CASE("enclosures hold the exact number, and little else") {
  const auto value = [](const std::string& decimal) {
    return parse_decimal<unbounded_integer>(decimal).value();
  };
  for (const auto& [high, low] : {std::pair(1.0, 0x1p-60),
                                  {-0.75, 0.0},
                                  {0x1p300, -0x1.8p246},
                                  {0.0, 0.0},
                                  {0x1p-1074, 0x1p-140},
                                  {3.0, -0x1.fffffep-55}}) {
    INFO(high << " " << low);
    const auto [below, above] = enclosure_text({{1}, {high}, {low}, &formats::binary64, false}, 0);
    const auto exact = [](double x) {
      return exact_cast<unbounded_rational>(exact_value<unbounded_integer>(x));
    };
    const unbounded_rational center = exact(high) + exact(low);
    const unbounded_rational ulp =
        low == 0 ? exact(0x1p-149) : exact(std::max(std::ldexp(1.0, std::ilogb(low) - 23), 0x1p-149));
    CHECK(value(below) < unbounded_rational(center - ulp));
    CHECK(unbounded_rational(center + ulp) < value(above));
    CHECK(unbounded_rational(value(above) - value(below)) < unbounded_rational(ulp * unbounded_rational(3)));
  }
  // Without low words half an ulp of the element's format: 2^-8 of bfloat16's 1.5, from 1.49609375
  // to 1.50390625.
  const auto [below, above] = enclosure_text({{1}, {1.5}, {}, &formats::bfloat16, false}, 0);
  CHECK(value(below) <
        unbounded_rational(exact_cast<unbounded_rational>(exact_value<unbounded_integer>(1.49609375))));
  CHECK(exact_cast<unbounded_rational>(exact_value<unbounded_integer>(1.50390625)) < value(above));
  CHECK(enclosure_text({{1}, {not_a_number}, {}, &formats::bfloat16, false}, 0).first == "NaN");
}

TEST_CASE("which elements fail") {
  const std::vector<double> reference = {1, 2, 3, 4, 5}, candidate = {1, 2.5, not_a_number, 6, infinity};
  using places = std::vector<std::size_t>;
  CHECK(compared(reference, candidate, &formats::binary64, &formats::binary64).failing == places{1, 2, 3, 4});
  const auto within = [&](array_tolerance t) {
    return compared(reference, candidate, &formats::binary64, &formats::binary64, t).failing;
  };
  CHECK(within({.absolute = exact_scalar(unbounded_dyadic(1))}) == places{2, 3, 4});
  CHECK(within({.absolute = exact_scalar(unbounded_dyadic(1)), .ulp = 0}) == places{1, 2, 3, 4});
  CHECK(compared(reference, reference, &formats::binary64, &formats::binary64, {.ulp = 0}).failing.empty());
}

TEST_CASE("errors in units of the weighted |V|") {
  const auto units = [](double x) { return weighted_tolerance{exact_value<unbounded_integer>(x), nullptr}; };
  // bfloat16: 2^-8 of the weighted |V|. Where that is 2, an error of 2^-6 is 2 units, though it is 4 ulps of
  // 1/2; where it is 2^-200 it counts as 2^-126, and the smallest subnormal, 2^-133, is 2 units.
  array_reference reference{{3}, {0.5, 0, 1}, {}, &formats::binary64, false, {2, 0x1p-200, 1}};
  const std::vector<double> candidate{0.5 + 0x1p-6, 0x1p-133, 1};
  const std::vector<std::size_t> shape{3};
  const auto compared_within = [&](array_tolerance t, const format* f) {
    return compare_arrays(reference, {shape, candidate}, f, t);
  };
  const auto c = compared_within({.weighted_v = units(2)}, &formats::bfloat16);
  CHECK(c.outcome == judgement::passed);
  CHECK(c.weighted_error->value == 2);
  CHECK(c.weighted_error->at == 0);
  CHECK(c.ulp_distance->value == 4);
  CHECK(c.past_weighted.count == 0);
  CHECK(c.worst == std::vector<std::size_t>{0, 1, 2});  // 4 ulps and 1, but 2 units both
  const auto failed = compared_within({.weighted_v = units(std::nextafter(2, 0))}, &formats::bfloat16);
  CHECK(failed.outcome == judgement::failed);
  CHECK(failed.past_weighted.count == 2);
  CHECK(failed.failing == std::vector<std::size_t>{0, 1});
  CHECK(failed.weighted_v.at(0) == 2);
  // All that are given count.
  CHECK(compared_within({.ulp = 3, .weighted_v = units(2)}, &formats::bfloat16).past_ulp.count == 1);
  CHECK(compared_within({.ulp = 4, .weighted_v = units(2)}, &formats::bfloat16).passed());
  // Of another format than the candidate's: 2^-8 / 2^-24 = 2^16 units of binary32.
  CHECK(compared_within({.weighted_v = weighted_tolerance{unbounded_dyadic(2), &formats::bfloat16}},
                        &formats::binary32)
            .passed());
  CHECK(compared_within({.weighted_v = units(1)}, &formats::binary32).weighted_error->value == 0x1p17);
  // A low word counts: 1/2 + 2^-7 leaves 1 unit.
  reference.low = {0x1p-7, 0, 0};
  CHECK(compared_within({.weighted_v = units(2)}, &formats::bfloat16).weighted_error->at == 1);
  reference.low.clear();
  reference.weighted_v[0] = not_a_number;
  CHECK_FALSE(compared_within({.weighted_v = units(1000)}, &formats::bfloat16).passed());
  reference.weighted_v.clear();
  CHECK_THROWS_AS(compared_within({.weighted_v = units(2)}, &formats::bfloat16), std::invalid_argument);
  reference.weighted_v = {1, 1, 1};
  CHECK_THROWS_AS(compared_within({.weighted_v = units(-2)}, &formats::bfloat16), std::invalid_argument);
  CHECK_THROWS_AS(compared_within({.absolute = exact_scalar(unbounded_dyadic(-1))}, &formats::bfloat16),
                  std::invalid_argument);
}

TEST_CASE("a shape whose elements nothing can count is refused") {
  // 2^63 · 2 is 0 in 64 bits.
  const std::vector<std::size_t> shape{1, std::size_t{1} << 63, 2};
  CHECK_THROWS_AS(compare_arrays({shape, {}, {}, nullptr, false}, {shape, {}}, nullptr, {}),
                  std::invalid_argument);
}

TEST_CASE("the worst elements are those of the tolerance") {
  // Element 1 is off by 2^-10 where values cancel, by many ulps of 2^-20; element 0 by one ulp of 1, 2^-7.
  const array_reference reference{{3}, {1, 0x1p-20, 2}, {}, &formats::binary64, false, {1, 1, 2}};
  const std::vector<std::size_t> shape{3};
  const std::vector<double> candidate{1 + 0x1p-7, 0x1p-10, 2};
  const auto worst = [&](array_tolerance t) {
    return compare_arrays(reference, {shape, candidate}, &formats::bfloat16, t).worst;
  };
  CHECK(worst({.ulp = 0}) == std::vector<std::size_t>{1, 0, 2});
  const weighted_tolerance one{unbounded_dyadic(1), nullptr};
  CHECK(worst({.weighted_v = one}) == std::vector<std::size_t>{0, 1, 2});
  // A report shows element 1 for a tolerance in ulps alone, as three others are further off in units.
  const array_reference five{{5}, {1, 0x1p-20, 2, 1, 1}, {}, &formats::binary64, false, {1, 1, 2, 1, 1}};
  const std::vector<std::size_t> shape_of_five{5};
  const auto text = [&](array_tolerance t) {
    return describe(compare_arrays(five, {shape_of_five, std::vector<double>{1.5, 0x1p-10, 4, 1.5, 1}},
                                   &formats::bfloat16, t));
  };
  CHECK(text({.ulp = 0}).find("at [1]  candidate") != std::string::npos);
  CHECK(text({.ulp = 0, .weighted_v = one}).find("at [1]  candidate") != std::string::npos);
  CHECK(text({.weighted_v = one}).find("at [1]  candidate") == std::string::npos);
  CHECK(text({.weighted_v = one}).find("at [2]  candidate") != std::string::npos);
}

TEST_CASE("units of the weighted |V| at the ends of binary64") {
  // The smallest normal double is 2^-1022: a unit is 2^-1075, half the smallest subnormal.
  const array_reference reference{{2}, {0, 0x1p1000}, {}, &formats::binary64, false, {0, 0x1p1020}};
  const std::vector<std::size_t> shape{2};
  const std::vector<double> candidate{0x1p-1074, 0x1p1000 + 0x1p967};
  const auto c = compare_arrays(reference, {shape, candidate}, &formats::binary64,
                                {.weighted_v = weighted_tolerance{unbounded_dyadic(2), nullptr}});
  CHECK(c.passed());
  CHECK(c.weighted_error->value == 2);  // 2^967 is one unit of 2^-53 · 2^1020
  CHECK(c.weighted_error->at == 0);
  const std::vector<double> infinite{infinity, 0x1p1000};
  CHECK(compare_arrays(reference, {shape, infinite}, &formats::binary64,
                       {.weighted_v = weighted_tolerance{unbounded_dyadic(2), nullptr}})
            .past_weighted.count == 1);
}

TEST_CASE("tolerances in units of the weighted |V| without power") {
  const auto blind = [](const std::vector<double>& r, const std::vector<double>& weighted, int units,
                        std::optional<exact_scalar> absolute = {}) {
    const std::vector<std::size_t> shape{r.size()};
    return compare_arrays(
               {{r.size()}, r, {}, &formats::bfloat16, false, weighted}, {shape, r}, &formats::bfloat16,
               {.absolute = absolute, .weighted_v = weighted_tolerance{unbounded_dyadic(units), nullptr}})
        .blind;
  };
  // 128 units of 2^-8 are half of the weighted |V|.
  CHECK(blind({0.5, -1}, {1, 2}, 128) == blind_spot::zeros);
  CHECK(blind({0.5, -1}, {1, 2}, 127) == blind_spot::none);
  // From 0.5 to 1.5 and from 1 to 3: what is between 1 and 1.5 passes for both.
  CHECK(blind({1, 2}, {1, 2}, 128) == blind_spot::constant);
  CHECK(blind({1, 1.5}, {1, 1}, 64) == blind_spot::constant);  // 5/4 alone
  // From 3/4 to 5/4 and from 3/2 to 5/2.
  CHECK(blind({1, 2}, {1, 2}, 64) == blind_spot::none);
  CHECK(blind({0.5, -1}, {1, 2}, 128, exact_scalar(unbounded_dyadic(unbounded_integer(1), -2))) ==
        blind_spot::none);
  CHECK(blind({0, 0}, {1, 2}, 128) == blind_spot::none);
  // Half an ulp cannot hold where the format has no nearer number.
  const std::vector<std::size_t> shape{1};
  const auto c = compare_arrays(
      {{1}, {1 + 0x1p-8}, {}, &formats::binary64, false, {1}}, {shape, std::vector<double>{1}},
      &formats::bfloat16, {.weighted_v = weighted_tolerance{unbounded_dyadic(unbounded_integer(1), -1)}});
  CHECK(c.cannot_hold.count == 1);
}

TEST_CASE("a comparison of arrays in lines") {
  const std::vector<std::size_t> shape{1, 2, 2, 1};
  const std::vector<double> transposed{1, 3, 2, 4};
  array_comparison c = compare_arrays({{1, 2, 2, 1}, {1, 2, 3, 4}, {}, &formats::binary64, false, {}},
                                      {shape, transposed}, &formats::binary32, {.ulp = 4});
  c.name = "output";
  c.conventions = {"one", "another"};
  c.notes = {"a note"};
  c.where = "all 2 failures are in column 0";
  const auto text = [&] { return "\n" + describe(c) + "\n"; };
  const auto has = [&](const std::string& line) {
    return text().find("\n" + line + "\n") != std::string::npos;
  };
  INFO(text());
  CHECK(
      text().starts_with("\noutput [1, 2, 2, 1] in binary32: failed, 2 of 4 elements differ, the first at "
                         "[0, 0, 1, 0]\n"));
  CHECK(
      has("  note: the candidate's elements fit in the order [B, T, H, d]: transpose them to [B, H, T, d]"));
  CHECK(has("  fits if: one; or another"));
  CHECK(has("  note: a note"));
  CHECK(has("  all 2 failures are in column 0"));
  CHECK(has("  absolute error  1.0 (1) at [0, 0, 1, 0]"));
  CHECK(has("  past ulp 4: 2, the first at [0, 0, 1, 0]"));
  CHECK(has("  at [0, 0, 1, 0]  candidate  3.0"));
  CHECK(has("                   reference  2.0"));
  CHECK_FALSE(text().ends_with("\n\n"));
  // An array that passes shows no elements; names of tolerances.
  c = compare_arrays({{1}, {1}, {0x1p-30}, &formats::binary64, false, {4}},
                     {std::span(shape).first(1), std::vector<double>{1.5}}, &formats::bfloat16,
                     {.absolute = exact_value<unbounded_integer>(0.5),
                      .weighted_v = weighted_tolerance{unbounded_dyadic(3), &formats::float8_e5m2}});
  CHECK(text().starts_with("\n[1] in bfloat16: passed, its element differs\n"));
  CHECK(has("  of weighted |V| 1 at [0], in units of 2^-3 (float8_e5m2)"));
  CHECK(text().find("candidate") == std::string::npos);
  c = compare_arrays({{1}, {1}, {0x1p-30}, &formats::binary64, false, {4}},
                     {std::span(shape).first(1), std::vector<double>{2.5}}, &formats::bfloat16,
                     {.weighted_v = weighted_tolerance{unbounded_dyadic(2), &formats::float8_e5m2}});
  CHECK(has("  past weighted_v 2 of float8_e5m2: 1, at [0]"));
  CHECK(has("          weighted |V|  4"));
  // 1 + 2^-30 = 1.00000000093132257...
  CHECK(text().find("          exact      1.000000000931322") != std::string::npos);
  // The tolerance in ulps has power.
  c = compare_arrays({{1}, {1}, {}, &formats::binary64, false, {}},
                     {std::span(shape).first(1), std::vector<double>{1}}, &formats::bfloat16,
                     {.absolute = exact_value<unbounded_integer>(2.0), .ulp = 4});
  CHECK(has("  note: absolute 2.0 has no power here: an array of zeros would pass"));
}
