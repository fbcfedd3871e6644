#include <attest/io/input_error.hpp>
#include <attest/prove/claims.hpp>
#include <attest/reference/attention.hpp>

#include "catch.hpp"

#include <string>
#include <vector>

using namespace attest;
using namespace attest::prove;

// Printed numbers against exact values: each kind of claim on both sides of its boundary, at ties, at zero,
// at numbers that only their symbolic form can tell apart; and what a list means where nothing says it.

namespace {

struct answer {
  std::vector<printed_array> arrays;
  std::vector<std::string> wrong;
};

answer judged(const std::string& text, std::optional<claim_kind> otherwise = std::nullopt) {
  const io::json::value root = io::json::parse(text);
  const io::case_batch inputs = io::read_batch(root, "c");
  answer result{read_claims(root, "c", inputs, otherwise), {}};
  for (const wrong_number& w : wrong_numbers(inputs, result.arrays)) result.wrong.push_back(w.message());
  return result;
}

// One query that sees one key: its weight is 1 and its output is the value. The value, and what is printed of
// it.
std::string value_case(const std::string& value, const std::string& printed, const std::string& kind) {
  return R"({"Q": [[0]], "K": [[0]], "V": [[)" + value + R"(]], "expected": {"output": [[)" + printed +
         R"(]]}, "claims": {"output": ")" + kind + "\"}}";
}
bool holds(const std::string& value, const std::string& printed, const std::string& kind) {
  return judged(value_case(value, printed, kind)).wrong.empty();
}
std::string message(const std::string& value, const std::string& printed, const std::string& kind) {
  const auto wrong = judged(value_case(value, printed, kind)).wrong;
  return wrong.empty() ? "right" : wrong[0];
}

// Two keys of scores 0 and `score`, values 0 and 1: the output is e^s / (1 + e^s), irrational for a rational
// s other than 0.
std::string logistic_case(const std::string& score, const std::string& printed, const std::string& kind) {
  return R"({"Q": [[1]], "K": [[0], [)" + score + R"(]], "V": [[0], [1]], "expected": {"output": [[)" +
         printed + R"(]]}, "claims": {"output": ")" + kind + "\"}}";
}

}  // namespace

TEST_CASE("decimals: the rounding at the last printed digit, either neighbour at a tie") {
  CHECK(holds("\"0.8270\"", "0.827", "decimal"));
  CHECK(holds("\"0.8274\"", "0.827", "decimal"));
  CHECK_FALSE(holds("\"0.8274\"", "0.8270", "decimal"));  // trailing zeros count
  CHECK(holds("\"0.8275\"", "0.827", "decimal"));
  CHECK(holds("\"0.8275\"", "0.828", "decimal"));
  CHECK_FALSE(holds("\"0.82750000000000000000000000000000001\"", "0.827", "decimal"));
  CHECK_FALSE(holds("\"0.8264999\"", "0.827", "decimal"));
  CHECK(holds("\"-1/3\"", "-0.333", "decimal"));
  CHECK_FALSE(holds("\"-1/3\"", "-0.334", "decimal"));
  CHECK(holds("\"1/3\"", "0", "decimal"));
  CHECK(holds("123456", "1.23e5", "decimal"));
  CHECK_FALSE(holds("123556", "1.23e5", "decimal"));
  CHECK(holds("0.1", "\"0.1000000000000000056\"", "decimal"));
  CHECK_FALSE(holds("0.1", "\"0.1000000000000000000\"", "decimal"));
}

TEST_CASE("binary64: the correctly rounded double, in whatever digits") {
  CHECK(holds("\"1/3\"", "0.3333333333333333", "binary64"));
  CHECK(holds("\"1/3\"", "0.333333333333333314829616256247390992939472198486328125", "binary64"));
  CHECK(holds("\"1/3\"", "\"0x1.5555555555555p-2\"", "binary64"));
  CHECK_FALSE(holds("\"1/3\"", "\"0x1.5555555555556p-2\"", "binary64"));
  CHECK_FALSE(holds("\"1/3\"", "0.333333333333333", "binary64"));
  CHECK(holds("\"0x1.00000000000008p0\"", "1.0", "binary64"));  // a tie, to even
  CHECK(holds("\"0x1.00000000000018p0\"", "1.0000000000000004", "binary64"));
  CHECK(holds("0", "0.0", "binary64"));
  CHECK_FALSE(holds("0", "-0.0", "binary64"));
  CHECK(holds("\"-1e-400\"", "-0.0", "binary64"));
  CHECK_FALSE(holds("\"-1e-400\"", "0.0", "binary64"));
  CHECK(holds("\"4e-324\"", "5e-324", "binary64"));
  CHECK_FALSE(holds("\"1e999\"", "1.7976931348623157e308", "binary64"));
}

TEST_CASE("exactly: the number itself") {
  CHECK(holds("\"1/3\"", "\"2/6\"", "exactly"));
  CHECK_FALSE(holds("\"1/3\"", "0.3333333333333333", "exactly"));
  CHECK(holds("0.5", "0.50", "exactly"));
  CHECK(holds("0.1", "\"0x1.999999999999ap-4\"", "exactly"));
  CHECK_FALSE(holds("0.1", "0.1", "exactly"));  // the input is a double
  CHECK_FALSE(judged(logistic_case("1", "\"1/sqrt(2)\"", "exactly")).wrong.empty());
}

TEST_CASE("scores, with roots") {
  const std::string inputs =
      R"({"Q": [[1, 1]], "K": [[3, 0], [2, 2]], "V": [[1], [2]], "expected": {"scores": )";
  CHECK(judged(inputs + R"-([["3/sqrt(2)", "4/sqrt(2)"]]}})-").wrong.empty());
  CHECK(judged(inputs + R"([[2.12, 2.83]]}, "claims": "decimal"})").wrong.empty());
  CHECK(
      judged(inputs + R"([[2.1213203435596424, 2.8284271247461903]]}, "claims": "binary64"})").wrong.empty());
  CHECK(judged(inputs + R"-([["3/sqrt(2)", "3/sqrt(2)"]]}})-").wrong ==
        std::vector<std::string>{"scores[0][1]: printed 3/sqrt(2), exact 2.8284271247461900…"});
}

TEST_CASE("a numeral that only the symbolic form tells from the boundary") {
  // With s = 2^-200 the output is 1/2 + 2^-202 - ...: just above 0.5, so of 0.5 the upper neighbour at every
  // precision.
  CHECK(judged(logistic_case("\"0x1p-200\"", "0.5", "decimal")).wrong.empty());
  const std::string half_of_the_last_digit = "0.5000000000";
  CHECK(judged(logistic_case("\"0x1p-200\"", half_of_the_last_digit, "decimal")).wrong.empty());
  // 0.5 is the tie between 0 and 1: from just above it 1 is right and 0 is not.
  CHECK(judged(logistic_case("\"0x1p-200\"", "1", "decimal")).wrong.empty());
  CHECK(judged(logistic_case("\"0x1p-200\"", "0", "decimal")).wrong ==
        std::vector<std::string>{"output[0][0]: printed 0, exact 0.50…: write 1"});
  CHECK(judged(logistic_case("\"-0x1p-200\"", "0", "decimal")).wrong.empty());
  CHECK(judged(logistic_case("\"-0x1p-200\"", "1", "decimal")).wrong ==
        std::vector<std::string>{"output[0][0]: printed 1, exact 0.49…: write 0"});
}

TEST_CASE("weights too small to have digits") {
  const std::string inputs =
      R"({"Q": [[1]], "K": [[0], ["-1e14"]], "V": [[0], [1]], "expected": {"weights": )";
  CHECK(judged(inputs + R"([[1, 0]]}, "claims": {"weights": "decimal"}})").wrong.empty());
  CHECK(judged(inputs + R"([[1.0, 0.0]]}, "claims": {"weights": "binary64"}})").wrong.empty());
  CHECK(judged(inputs + R"([[1, 0]]}})").wrong.size() == 2);  // neither is exactly that
  CHECK(judged(inputs + R"([[1, -0.0]]}, "claims": {"weights": "decimal"}})").wrong.empty());
  CHECK(judged(inputs + R"([[1, 1e-3000]]}, "claims": {"weights": "decimal"}})").wrong.size() == 1);
}

TEST_CASE("messages: place, printed, exact, right") {
  CHECK(message("\"1/3\"", "0.334", "decimal") == "output[0][0]: printed 0.334, exact 1/3: write 0.333");
  CHECK(message("\"2/3\"", "-0.67", "decimal") == "output[0][0]: printed -0.67, exact 2/3: write 0.67");
  CHECK(message("\"-100/3\"", "-33.4", "decimal") ==
        "output[0][0]: printed -33.4, exact -100/3: write -33.3");
  CHECK(message("7", "8", "exactly") == "output[0][0]: printed 8, exact 7");
  CHECK(message("0.25", "0.3", "exactly") == "output[0][0]: printed 0.3, exact 0.25");
  CHECK(message("0.1", "0.1", "exactly") == "output[0][0]: printed 0.1, exact 0.10000000000000000…");
  CHECK(message("\"0.999\"", "0.9", "decimal") == "output[0][0]: printed 0.9, exact 0.999: write 1.0");
  CHECK(judged(logistic_case("1", "0.7311", "decimal")).wrong.empty());
  CHECK(judged(logistic_case("1", "0.7312", "decimal")).wrong ==
        std::vector<std::string>{"output[0][0]: printed 0.7312, exact 0.731058…: write 0.7311"});
  CHECK(judged(logistic_case("1", "0.7310585786300048", "binary64")).wrong ==
        std::vector<std::string>{"output[0][0]: printed 0.7310585786300048, exact 0.73105857863000487925…: "
                                 "write 0.7310585786300049"});
  CHECK(judged(logistic_case("-100", "3.8e-44", "decimal")).wrong ==
        std::vector<std::string>{"output[0][0]: printed 3.8e-44, exact 3.720e-44…: write 3.7e-44"});
}

TEST_CASE("what a list says where nothing says it") {
  const std::string inputs =
      R"({"Q": [[1]], "K": [[2]], "V": [["1/3"]], "expected": {"dots": [[2]], "V": [["1/3"]], "output": [[)";
  const auto kinds = [&](const std::string& printed, const std::string& claims,
                         std::optional<claim_kind> otherwise) {
    std::string text;
    for (const printed_array& a : judged(inputs + printed + "]]}" + claims + '}', otherwise).arrays)
      text += a.name + ' ' + std::string(name_of(a.kind)) + ' ' + a.numerals[0] + "; ";
    return text;
  };
  CHECK(kinds("\"1/3\"", "", std::nullopt) == "V exactly 1/3; dots exactly 2; output exactly 1/3; ");
  CHECK(kinds("0.3330", R"(, "claims": "decimal")", std::nullopt) ==
        "V exactly 1/3; dots exactly 2; output decimal 0.3330; ");
  CHECK(kinds("0.33", "", claim_kind::decimal) == "V exactly 1/3; dots exactly 2; output decimal 0.33; ");
  CHECK(kinds("0.33", R"(, "claims": "decimal")", claim_kind::binary64) ==
        "V exactly 1/3; dots exactly 2; output decimal 0.33; ");
  CHECK(kinds("0.33", R"(, "claims": {"output": "decimal", "dots": "binary64"})", claim_kind::exactly) ==
        "V exactly 1/3; dots binary64 2; output decimal 0.33; ");
  CHECK(kinds("\"0.33\"", "", std::nullopt) == "V exactly 1/3; dots exactly 2; output exactly 0.33; ");
  CHECK_THROWS_AS(kinds("0.33", "", std::nullopt), io::input_error);
  CHECK_THROWS_AS(kinds("3e-1", "", std::nullopt), io::input_error);
}

TEST_CASE("the examples of a batch, array by array") {
  const auto wrong = judged(R"({"Q": [[[1]], [[2]]], "K": [[1], [0]], "V": [[[1], [2]], [[3], [4]]],
                                "expected": {"dots": [[[1, 0]], [[2, 5]]], "Q": [[[3]], [[4]]],
                                             "V": [[[1], [2]], [[3], [4]]]}})")
                         .wrong;
  CHECK(wrong == std::vector<std::string>{"Q[0][0][0]: printed 3, exact 1", "Q[1][0][0]: printed 4, exact 2",
                                          "dots[1][0][1]: printed 5, exact 0"});
}
