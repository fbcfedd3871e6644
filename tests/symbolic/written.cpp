#include <attest/symbolic/print.hpp>
#include <attest/symbolic/written.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/random.hpp"

#include <string>

// Reading exact numbers as a page writes them: the inverse of print for surds of integers and rationals.

using attest::basic_rational;
using attest::parse_exact;
using attest::surd;

namespace {

template <class Integer>
constexpr bool is(std::string_view text, long n, long d, long root_n = 0, long root_d = 1,
                  unsigned long long radicand = 1) {
  return parse_exact<Integer>(text) ==
         surd<basic_rational<Integer>>(attest::ratio(Integer(n), Integer(d)),
                                       attest::ratio(Integer(root_n), Integer(root_d)), radicand);
}

template <class Integer>
constexpr bool numbers_as_written() {
  return is<Integer>("-2", -2, 1) && is<Integer>("0.25", 1, 4) && is<Integer>("4/3", 4, 3) &&
         is<Integer>("-4/6", -2, 3) && is<Integer>("2/-3", -2, 3) && is<Integer>("0.5/0.25", 2, 1) &&
         is<Integer>("3/sqrt(2)", 0, 1, 3, 1, 2) && is<Integer>("-3/sqrt(2)", 0, 1, -3, 1, 2) &&
         is<Integer>("1/2/sqrt(5)", 0, 1, 1, 2, 5) && is<Integer>("(1/2)/sqrt(5)", 0, 1, 1, 2, 5) &&
         is<Integer>("(-1/2)/sqrt(5)", 0, 1, -1, 2, 5) && is<Integer>("1 - 3/sqrt(2)", 1, 1, -3, 1, 2) &&
         is<Integer>("-1/3 + (1/2)/sqrt(5)", -1, 3, 1, 2, 5) && is<Integer>("6/sqrt(4)", 3, 1) &&
         is<Integer>("0", 0, 1) && is<Integer>("2e1", 20, 1) && !is<Integer>("3/sqrt(3)", 0, 1, 3, 1, 2);
}

}  // namespace

TEST_CASE("exact numbers are read as a page writes them") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(numbers_as_written);
}

TEST_CASE("text that is no exact number is an error") {
  for (const std::string text : {"", "/", "1/", "/2", "sqrt(2)", "1/sqrt(2", "1/sqrt()", "1/sqrt(0)",
                                 "1/sqrt(-2)", "1/sqrt(2.5)", "1/sqrt(2)x", "(1/2)", "()/sqrt(2)", "1//2",
                                 "1/2/3", "1 - 2 - 3", "1 + 2 + 3", "r", "1 + ", " + 1", "1/sqrt(99999999999999999999)"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_exact(text), std::domain_error);
  }
  CHECK_THROWS_AS(parse_exact("1/0"), std::domain_error);
}

TEST_CASE("reading is the inverse of printing for surds") {
  testing::random_source random(15'033);
  for (int round = 0; round < 2000; ++round) {
    const surd<attest::rational> x(attest::ratio(random.between(-20, 20), random.between(1, 6)),
                                   attest::ratio(random.between(-20, 20), random.between(1, 6)),
                                   static_cast<unsigned long long>(random.between(1, 40)));
    const std::string text = attest::to_text(x);
    CAPTURE(text);
    CHECK(parse_exact(text) == x);
  }
}
