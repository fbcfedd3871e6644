// Cases: the generator against std::mt19937; both streams against what NumPy printed; the correctly rounded
// stream against MPFR; the compiler against the program; seeds that NumPy refuses; a logarithm that is not
// NumPy's.
#include "catch.hpp"

#include <attest/inputs/numpy_stream.hpp>

#include <mpfr.h>

#include <cfenv>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

namespace {

using namespace attest;

constexpr std::uint32_t seeds[] = {0, 1, 42, 0xffffffff};

std::int64_t ordinal(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

/// The values that NumPy printed for a seed.
std::vector<double> recorded(std::uint32_t seed) {
  std::ifstream file(std::string(ATTEST_SOURCE_DIR) + "/tests/inputs/data/numpy-randn-seed" +
                     std::to_string(seed) + ".txt");
  std::vector<double> values;
  for (std::string line; std::getline(file, line);)
    if (line.front() != '#') values.push_back(std::strtod(line.c_str(), nullptr));
  return values;
}

/// ln x, correctly rounded by MPFR.
double mpfr_log(double x) {
  mpfr_t argument, result;
  mpfr_init2(argument, 53);
  mpfr_init2(result, 53);
  mpfr_set_d(argument, x, MPFR_RNDN);
  mpfr_log(result, argument, MPFR_RNDN);
  const double value = mpfr_get_d(result, MPFR_RNDN);
  mpfr_clear(argument);
  mpfr_clear(result);
  return value;
}

/// The polar method in doubles over MPFR's logarithm.
struct over_mpfr {
  bool polar(std::int64_t u, std::int64_t v, normal_pair& result) const {
    const double x = std::ldexp(static_cast<double>(u), -52);
    const double y = std::ldexp(static_cast<double>(v), -52);
    const double r = x * x + y * y;
    if (r >= 1.0 || r == 0.0) return false;
    const double f = std::sqrt(-2.0 * mpfr_log(r) / r);
    result = {f * y, f * x};
    return true;
  }
};

struct difference {
  std::size_t index;
  std::int64_t ulps;
  bool operator==(const difference& other) const { return index == other.index && ulps == other.ulps; }
};

std::vector<difference> differences_in_ulps(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<difference> result;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (ordinal(a[i]) != ordinal(b[i])) result.push_back({i, std::abs(ordinal(a[i]) - ordinal(b[i]))});
  return result;
}

}  // namespace

TEST_CASE("the generator is MT19937, seeded by one word") {
  for (const std::uint32_t seed : seeds) {
    mersenne_twister words(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 2000; ++i) REQUIRE(words() == standard());
  }
}

TEST_CASE("random_sample takes 53 bits from two words") {
  numpy_random random(42);
  CHECK(random.random_sample() == 0.3745401188473625);
  CHECK(random.random_sample() == 0.9507143064099162);
  CHECK(random.random_sample() == 0.7319939418114051);
  for (const std::uint32_t seed : seeds) {
    numpy_random stream(seed);
    std::mt19937 words(seed);
    for (int i = 0; i < 1000; ++i) {
      const auto high = static_cast<double>(words() >> 5);
      const auto low = static_cast<double>(words() >> 6);
      REQUIRE(stream.random_sample() == (high * 67108864.0 + low) / 9007199254740992.0);
    }
  }
}

TEST_CASE("with the C library's logarithm the stream is NumPy's, bit for bit, or the library is named") {
  for (const std::uint32_t seed : {42u, 0u, 1u}) {
    const std::vector<double> expected = recorded(seed);
    REQUIRE(expected.size() == 2000);
    try {
      CHECK(differences_in_ulps(numpy_stream(seed, 2000, randn_logarithm::c_library), expected).empty());
    } catch (const different_c_library& difference) {
      WARN(difference.what());
      CHECK(std::string(difference.what()).find(c_library_name()) != std::string::npos);
    }
  }
}

TEST_CASE("the correctly rounded stream differs from NumPy's in single ulps of a few values") {
  using list = std::vector<difference>;
  const auto against_recorded = [](std::uint32_t seed) {
    return differences_in_ulps(numpy_stream(seed, 2000, randn_logarithm::correctly_rounded), recorded(seed));
  };
  CHECK(against_recorded(42) == list{{76, 1}, {77, 1}});
  CHECK(against_recorded(0) == list{{662, 1}, {663, 1}});
  CHECK(against_recorded(1).empty());
}

TEST_CASE("the correctly rounded stream is the one over MPFR's logarithm") {
  for (const std::uint32_t seed : seeds) {
    numpy_random random(seed);
    basic_numpy_random<over_mpfr> expected(seed);
    for (int i = 0; i < 5000; ++i) REQUIRE(ordinal(random.randn()) == ordinal(expected.randn()));
  }
}

TEST_CASE("the polar method refuses points outside of the circle, on it, and at its centre") {
  constexpr std::int64_t one = std::int64_t{1} << 52;
  normal_pair pair{};
  const correctly_rounded exact;
  const over_mpfr doubles;
  for (const auto& [u, v] : {std::pair{-one, std::int64_t{0}},
                             {std::int64_t{0}, std::int64_t{0}},
                             {one / 2, -one},
                             {-one, -one}}) {
    CHECK_FALSE(exact.polar(u, v, pair));
    CHECK_FALSE(doubles.polar(u, v, pair));
  }
}

TEST_CASE("points at the edges of the square and near its centre round like doubles") {
  constexpr std::int64_t one = std::int64_t{1} << 52;
  const correctly_rounded exact;
  const over_mpfr doubles;
  for (const std::int64_t u : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-3}, std::int64_t{1} << 26,
                               one / 3, one - 1, 1 - one, -one})
    for (const std::int64_t v : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{7}, std::int64_t{1} << 27,
                                 -one / 5, one - 1, 2 - one, -one}) {
      normal_pair a{};
      normal_pair b{};
      const bool drawn = exact.polar(u, v, a);
      REQUIRE(drawn == doubles.polar(u, v, b));
      if (!drawn) continue;
      CHECK(std::bit_cast<std::uint64_t>(a.first) == std::bit_cast<std::uint64_t>(b.first));
      CHECK(std::bit_cast<std::uint64_t>(a.second) == std::bit_cast<std::uint64_t>(b.second));
    }
}

namespace {

template <std::uint32_t Seed>
bool compiler_agrees_with_program() {
  constexpr auto& in_compiler = numpy_randn<Seed, 71>;
  const std::vector<double> at_run_time = numpy_stream(Seed, 71, randn_logarithm::correctly_rounded);
  bool same = in_compiler.columns() == at_run_time.size();
  for (std::size_t i = 0; same && i < at_run_time.size(); ++i)
    same = in_compiler(0, i) == exact_value(at_run_time[i]);
  return same;
}

}  // namespace

TEST_CASE("the compiler and the program draw the same values") {
  CHECK(compiler_agrees_with_program<0>());
  CHECK(compiler_agrees_with_program<1>());
  CHECK(compiler_agrees_with_program<42>());
  CHECK(compiler_agrees_with_program<0xffffffff>());
}

TEST_CASE("seeds that NumPy refuses") {
  for (const long long seed : {-1LL, 0x1'0000'0000LL, std::numeric_limits<long long>::min(),
                               std::numeric_limits<long long>::max()}) {
    CHECK_THROWS_AS(numpy_random(seed), std::out_of_range);
    CHECK_THROWS_AS(numpy_stream(seed, 1, randn_logarithm::correctly_rounded), std::out_of_range);
    CHECK_THROWS_AS(numpy_stream(seed, 1, randn_logarithm::c_library), std::out_of_range);
  }
  CHECK(numpy_stream(0xffffffffLL, 3, randn_logarithm::correctly_rounded).size() == 3);
  CHECK(numpy_stream(0, 0, randn_logarithm::correctly_rounded).empty());
}

TEST_CASE("a logarithm that is not NumPy's is named, with an argument where it differs") {
  try {
    verify_logarithm(&mpfr_log, "MPFR");
    FAIL("the correctly rounded logarithm is not the recorded one");
  } catch (const different_c_library& difference) {
    const std::string text = difference.what();
    CHECK(text.find("the logarithm of MPFR") != std::string::npos);
    CHECK(text.find("log(0x1.e7c3ca362c8dp-1) is -0x1.8d3d9d28b926fp-5 and was -0x1.8d3d9d28b927p-5") !=
          std::string::npos);
  }
  // One that differs elsewhere than at the arguments that are looked at first.
  const auto nearly = +[](double x) { return x < 0.02 ? std::nextafter(std::log(x), 0.0) : std::log(x); };
  CHECK_THROWS_AS(verify_logarithm(nearly, "nobody"), different_c_library);
}

TEST_CASE("the caller's rounding mode neither matters nor changes") {
  const std::vector<double> expected = numpy_stream(42, 100, randn_logarithm::correctly_rounded);
  std::fesetround(FE_UPWARD);
  std::vector<double> values;
  try {
    values = numpy_stream(42, 100, randn_logarithm::c_library);
  } catch (const different_c_library&) {
  }
  const int mode = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(mode == FE_UPWARD);
  if (!values.empty())
    CHECK(differences_in_ulps(values, expected) == std::vector<difference>{{76, 1}, {77, 1}});
}
