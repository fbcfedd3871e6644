#include "contains.hpp"

#include <attest/io/number.hpp>
#include <attest/reference/number_text.hpp>

#include <bit>
#include <cfenv>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

using namespace attest;
using namespace attest::io;
using attest_testing::ContainsSubstring;

namespace {

exact_scalar nearest(std::string_view token) { return read_number(token, decimals::nearest_binary64); }
exact_scalar exactly(std::string_view token) { return read_number(token, decimals::exact); }
exact_scalar of_double(double x) { return exact_value<unbounded_integer>(x); }
exact_scalar of_integer(const char* decimal) { return unbounded_dyadic(unbounded_integer(decimal)); }
exact_scalar of_ratio(long long n, long long d) { return exact_ratio(unbounded_integer(n), unbounded_integer(d)); }

std::string message_of(auto f) {
  try {
    f();
  } catch (const number_error& e) {
    return e.what();
  }
  return "no error";
}

std::mt19937_64 generator(20250101);

}  // namespace

TEST_CASE("a JSON integer is exact at any size") {
  CHECK(nearest("0") == of_integer("0"));
  CHECK(nearest("-0") == of_integer("0"));
  CHECK(nearest("-17") == of_integer("-17"));
  CHECK(nearest("9007199254740993") == of_integer("9007199254740993"));  // 2^53 + 1 is no binary64
  CHECK_FALSE(nearest("9007199254740993") == of_double(9007199254740992.0));
  CHECK(nearest("1606938044258990275541962092341162602522202993782792835301376") ==
        exact_scalar(unbounded_dyadic(unbounded_integer(1), 200)));
  CHECK(nearest("-18446744073709551617") == of_integer("-18446744073709551617"));
}

TEST_CASE("a number with a point or exponent is the nearest binary64") {
  CHECK(nearest("0.1") == of_double(std::bit_cast<double>(0x3fb999999999999aull)));
  CHECK(nearest("1e2") == of_integer("100"));
  CHECK(nearest("-0.0") == of_integer("0"));
  CHECK(nearest("0.1978") == of_double(0.1978));
  // Ties, to even: 2^53 + 1 and 2^53 + 3.
  CHECK(nearest("9007199254740993.0") == of_integer("9007199254740992"));
  CHECK(nearest("9007199254740995.0") == of_integer("9007199254740996"));
  // One digit far behind the tie decides.
  CHECK(nearest("9007199254740993." + std::string(900, '0') + "1") == of_integer("9007199254740994"));
  // Half of the smallest subnormal is 2.47032822920623272088...e-324.
  CHECK(nearest("2.4703282292062327e-324") == of_integer("0"));
  CHECK(nearest("2.4703282292062328e-324") == exact_scalar(unbounded_dyadic(unbounded_integer(1), -1074)));
  CHECK(nearest("1e-4000") == of_integer("0"));
  CHECK(nearest("2.2250738585072011e-308") == of_double(std::bit_cast<double>(0x000fffffffffffffull)));
  // The largest binary64 and the last decimal that rounds to it; the overflow threshold is 1.79769313486231580793...e308.
  CHECK(nearest("1.797693134862315807e308") == of_double(std::bit_cast<double>(0x7fefffffffffffffull)));
}

TEST_CASE("overflow of binary64 is refused, with the remedy") {
  for (const char* token : {"1.797693134862315808e308", "-1e309", "1e3999"})
    CHECK_THAT(message_of([&] { nearest(token); }), ContainsSubstring(std::string(token) + "\" overflows binary64: write it as a string"));
  CHECK(exactly("1e309") == exact_scalar(unbounded_dyadic(boost::multiprecision::pow(unbounded_integer(10), 309))));
}

TEST_CASE("nearest binary64 agrees with the C library on random tokens") {
  REQUIRE(std::string(std::setlocale(LC_NUMERIC, nullptr)) == "C");
  std::uniform_int_distribution<int> digit('0', '9'), length(1, 30), exponent(-345, 270), plain(0, 3);
  for (int round = 0; round < 20000; ++round) {
    std::string token = round % 2 ? "-" : "";
    const int before = plain(generator) ? 1 : length(generator);
    token += static_cast<char>(std::max<int>('1', digit(generator)));
    for (int i = 1; i < before; ++i) token += static_cast<char>(digit(generator));
    token += '.';
    for (int i = length(generator); i > 0; --i) token += static_cast<char>(digit(generator));
    if (plain(generator)) token.append("e").append(std::to_string(exponent(generator)));
    CAPTURE(token);
    CHECK(nearest(token) == of_double(std::strtod(token.c_str(), nullptr)));
  }
}

TEST_CASE("nearest binary64 agrees with the C library on midpoints between neighbours") {
  // A midpoint in full decimal, and its neighbours in the last digit.
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t bits = generator() >> 1;
    const double low = std::bit_cast<double>(round % 3 ? bits : bits & ((1ull << 53) - 1));
    if (!(low < 1e300)) continue;
    const double high = std::bit_cast<double>(std::bit_cast<std::uint64_t>(low) + 1);
    const auto sum = exact_value<unbounded_integer>(low) + exact_value<unbounded_integer>(high);
    const unbounded_dyadic middle(sum.significand(), sum.exponent() - 1);
    // significand * 2^e as digits: for e < 0, significand * 5^-e with -e places.
    const long e = middle.exponent();
    unbounded_integer digits = middle.significand();
    if (e >= 0)
      digits <<= static_cast<unsigned>(e);
    else
      digits *= boost::multiprecision::pow(unbounded_integer(5), static_cast<unsigned>(-e));
    for (int off : {-1, 0, 1}) {
      const std::string token = unbounded_integer(digits + off).str() + "e" + std::to_string(e < 0 ? e : 0);
      CAPTURE(token);
      CHECK(nearest(token) == of_double(std::strtod(token.c_str(), nullptr)));
    }
  }
}

TEST_CASE("--decimal makes numbers exact") {
  CHECK(exactly("0.1") == of_ratio(1, 10));
  CHECK(exactly("-2.50e-1") == of_ratio(-1, 4));
  CHECK(is_dyadic(exactly("0.375")));
  CHECK_FALSE(is_dyadic(exactly("0.1")));
  CHECK(exactly("1.5e3") == of_integer("1500"));
  CHECK(exactly("7") == of_integer("7"));
}

TEST_CASE("strings hold exact rationals, decimals and hexadecimal floats") {
  CHECK(read_exact("1/3") == of_ratio(1, 3));
  CHECK(read_exact("-4/6") == of_ratio(-2, 3));
  CHECK(read_exact("6/8") == exact_scalar(unbounded_dyadic(unbounded_integer(3), -2)));
  CHECK(is_dyadic(read_exact("6/8")));
  CHECK(read_exact("010/4") == of_ratio(5, 2));  // no octal numbers
  CHECK(read_exact("0.1") == of_ratio(1, 10));
  CHECK(read_exact("00.10") == of_ratio(1, 10));
  CHECK(read_exact("+12") == of_integer("12"));
  CHECK(read_exact("2.5e-3") == of_ratio(1, 400));
  CHECK(read_exact("0x1.8p-3") == of_double(0.1875));
  CHECK(read_exact("-0X1.8P+3") == of_integer("-12"));
  CHECK(read_exact("0x1.921fb54442d18p+1") == of_double(std::bit_cast<double>(0x400921fb54442d18ull)));
  CHECK(read_exact("0x1p-1074") == of_double(std::bit_cast<double>(1ull)));
  CHECK(read_exact("0xff") == of_integer("255"));
  CHECK(read_exact("0x0.0p9") == of_integer("0"));
  // One bit more than a binary64 holds is kept.
  CHECK(read_exact("0x1.00000000000008p0") == exact_scalar(unbounded_dyadic((unbounded_integer(1) << 53) + 1, -53)));
}

TEST_CASE("hexadecimal floats agree with the C library") {
  for (int round = 0; round < 2000; ++round) {
    const double x = std::bit_cast<double>(generator());
    if (!(x - x == 0)) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%a", x);
    CAPTURE(text);
    CHECK(read_exact(text) == of_double(x));
    CHECK(read_exact(text) == of_double(std::strtod(text, nullptr)));
  }
}

TEST_CASE("what is no number is refused") {
  for (const char* text : {"", " 1", "1 ", "-", "+", ".5", "5.", "1e", "1e+", "1.2.3", "1,5", "1_000", "abc", "NaN", "inf", "-Infinity",
                           "1/", "/3", "1/2/3", "1/-3", "1/+3", "1.5/2", "1/2e3", "1 / 3", "0x", "0x.8p1", "0x1.p1", "0x1p", "0x1p+",
                           "0xg", "0x1.8p-3x", "--1", "1/0x3", "\xc2\xbd"}) {
    CAPTURE(text);
    CHECK_THAT(message_of([&] { read_exact(text); }), ContainsSubstring("is no number: write an integer, a rational"));
  }
  CHECK_THAT(message_of([] { read_exact("3/0"); }), ContainsSubstring("\"3/0\" has a zero denominator"));
  CHECK_THAT(message_of([] { read_exact("3/000"); }), ContainsSubstring("zero denominator"));
  CHECK_THAT(message_of([] { read_exact(std::string(100, 'x')); }), ContainsSubstring(std::string("\"").append(40, 'x').append("...\"")));
}

TEST_CASE("numbers past the limits are refused, those at the limits are read") {
  const auto refused = [](auto f) { CHECK_THAT(message_of(f), ContainsSubstring("past the limits of a number: at most 4000 digits")); };
  CHECK_NOTHROW(nearest(std::string(4000, '9')));
  refused([] { nearest(std::string(4001, '9')); });
  refused([] { nearest(std::string(4001, '0')); });
  CHECK_NOTHROW(exactly("1e3999"));
  refused([] { exactly("1e4000"); });
  refused([] { exactly("10e3999"); });
  CHECK_NOTHROW(exactly("0.01e4001"));
  CHECK_NOTHROW(exactly("1e-4000"));
  refused([] { exactly("0.1e-4000"); });
  refused([] { nearest("1e99999999999999999999999"); });
  refused([] { nearest("1e-99999999999999999999999"); });
  CHECK(nearest("0e99999999999999999999999") == of_integer("0"));
  CHECK(exactly("0.000e-4001") == of_integer("0"));
  CHECK_NOTHROW(read_exact("0x1p13286"));
  refused([] { read_exact("0x1p13287"); });
  CHECK_NOTHROW(read_exact("0x1p-13287"));
  refused([] { read_exact("0x0.8p-13287"); });
  refused([] { read_exact(std::string("0x").append(4001, '1')); });
  refused([] { read_exact(std::string("1/").append(4001, '1')); });
  CHECK_NOTHROW(read_exact(std::string(4000, '1').append("/").append(4000, '7')));
}

TEST_CASE("shortest decimals, in one notation") {
  CHECK(shortest_text(0.0) == "0.0");
  CHECK(shortest_text(-0.0) == "-0.0");
  CHECK(shortest_text(1.0) == "1.0");
  CHECK(shortest_text(-0.5) == "-0.5");
  CHECK(shortest_text(0.1) == "0.1");
  CHECK(shortest_text(100.0) == "100.0");
  CHECK(shortest_text(1234567.875) == "1234567.875");
  CHECK(shortest_text(0.0001) == "0.0001");
  CHECK(shortest_text(0.00001) == "1e-05");
  CHECK(shortest_text(0.000012) == "1.2e-05");
  CHECK(shortest_text(9007199254740993.0) == "9007199254740992.0");
  CHECK(shortest_text(1e16) == "1e+16");
  CHECK(shortest_text(1e22) == "1e+22");
  CHECK(shortest_text(1e23) == "1e+23");
  CHECK(shortest_text(-1.5e300) == "-1.5e+300");
  CHECK(shortest_text(std::bit_cast<double>(1ull)) == "5e-324");
  CHECK(shortest_text(std::bit_cast<double>(0x7fefffffffffffffull)) == "1.7976931348623157e+308");
  CHECK(shortest_text(std::bit_cast<double>(0x3fc950b7c7e902c5ull)) == "0.19777581464042818");
}

TEST_CASE("shortest decimals read back as the same binary64, and one digit less does not") {
  for (int round = 0; round < 5000; ++round) {
    const double x = std::bit_cast<double>(generator());
    if (!(x - x == 0) || x == 0) continue;
    const std::string text = shortest_text(x);
    CAPTURE(text);
    CHECK(std::strtod(text.c_str(), nullptr) == x);
    int digits = 0;
    for (const char c : text.substr(0, text.find('e'))) digits += c >= '0' && c <= '9';
    if (const std::size_t first = text.find_first_of("123456789"); text.starts_with("0.") || text.starts_with("-0."))
      digits = static_cast<int>(text.size() - first);
    if (text.ends_with(".0")) continue;
    if (digits < 2) continue;
    char shorter[64];
    std::snprintf(shorter, sizeof shorter, "%.*e", digits - 2, x);
    CHECK(std::strtod(shorter, nullptr) != x);
  }
}

TEST_CASE("exact texts read back as the same value") {
  CHECK(exact_text(of_integer("-7")) == "-7");
  CHECK(exact_text(of_ratio(-1, 3)) == "-1/3");
  CHECK(exact_text(of_double(0.1875)) == "0x1.8p-3");
  CHECK(exact_text(of_double(-0.5)) == "-0x1p-1");
  CHECK(exact_text(of_integer("1267650600228229401496703205376")) == "1267650600228229401496703205376");
  std::uniform_int_distribution<long> exponent(-3000, 3000);
  for (int round = 0; round < 1000; ++round) {
    unbounded_integer n(generator());
    n = n * n * generator() >> static_cast<unsigned>(generator() % 190);
    if (round % 2) n = -n;
    const exact_scalar x = unbounded_dyadic(n, exponent(generator));
    CAPTURE(exact_text(x));
    CHECK(read_exact(exact_text(x)) == x);
    const exact_scalar fraction = exact_ratio(n, unbounded_integer(1 + generator() % 1000000));
    CHECK(read_exact(exact_text(fraction)) == fraction);
  }
  for (int round = 0; round < 200; ++round) {
    // For a normal binary64 that is no integer the text is the C library's.
    const double x = std::bit_cast<double>(generator() >> 2);
    if (!(x > 1e-300) || x > 1) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%a", x);
    CHECK(exact_text(of_double(x)) == text);
  }
}

TEST_CASE("a number is read the same in every rounding mode of the caller") {
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    const int before = std::fegetround();
    std::fesetround(mode);
    const exact_scalar value = nearest("0.3");
    const int after = std::fegetround();
    std::fesetround(before);
    CHECK(value == of_double(0x1.3333333333333p-2));
    CHECK(after == mode);
  }
}
