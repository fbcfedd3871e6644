// Arrays under `expected`: values, exact numbers, NaN and infinity as tokens and strings, any depth; and
// every refusal with its message. JSON with the tokens it lacks.
#include "contains.hpp"

#include <attest/io/expected_arrays.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/number_text.hpp>

#include <cmath>

using namespace attest;
using namespace attest::io;

namespace {

std::vector<expected_array> arrays_of(std::string_view text) {
  return read_expected(read_attention_v1(text, "mine.json"), "mine.json", "put it there");
}
exact_array array_of(const std::string& list) {
  return arrays_of("{\"expected\": {\"a\": " + list + "}}")[0].array;
}

std::string message(std::string_view text) {
  try {
    arrays_of(text);
  } catch (const input_error& e) {
    return e.what();
  }
  return "no error";
}
std::string array_message(const std::string& list) {
  return message("{\"expected\": {\"weights\": " + list + "}}");
}

std::string kept(std::string_view text) { return json::write(json::parse(text, json::not_finite::kept)); }
std::string syntax_message(std::string_view text, json::not_finite words = json::not_finite::kept) {
  try {
    json::parse(text, words);
  } catch (const json::syntax_error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("arrays: names and order, shapes of any depth") {
  const auto arrays = arrays_of(
      R"({"expected": {"output": [[1, 2.5], [3, -4]], "lse": [0.5], "heads": [[[[1], [2]]], [[[3], [4]]]]}})");
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].name == "output");
  CHECK(arrays[0].array.shape == std::vector<std::size_t>{2, 2});
  CHECK(arrays[0].array.values == std::vector<double>{1, 2.5, 3, -4});
  CHECK(arrays[1].array.shape == std::vector<std::size_t>{1});
  CHECK(arrays[2].array.shape == std::vector<std::size_t>{2, 1, 2, 1});
  CHECK(arrays[2].array.values == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("elements: the nearest binary64, and exactly what is none") {
  const exact_array a =
      array_of(R"([0.1, 9007199254740993, "1/3", "0x1p-1074", "0.1", 1e-400, -1e-400, -0.0, -0, 1e16])");
  CHECK(a.values[0] == 0.1);
  CHECK_FALSE(a.beyond.contains(0));
  CHECK(a.values[1] == 9007199254740992.0);
  CHECK(exact_text(a.exact(1)) == "9007199254740993");
  CHECK(exact_text(a.exact(2)) == "1/3");
  CHECK(a.values[2] == 1.0 / 3);
  CHECK(a.values[3] == 0x1p-1074);
  CHECK_FALSE(a.beyond.contains(3));
  CHECK(exact_text(a.exact(4)) == "1/10");
  for (const std::size_t zero : {5u, 6u, 7u, 8u}) {
    CHECK(a.values[zero] == 0);
    CHECK(std::signbit(a.values[zero]) == (zero != 5));
    CHECK_FALSE(a.beyond.contains(zero));
  }
  const exact_array huge = array_of('[' + std::string(1, '1').append(400, '0') + ']');
  CHECK(std::isinf(huge.values[0]));
  CHECK(huge.beyond.contains(0));
}

TEST_CASE("NaN and infinity: tokens of Python and C, and strings") {
  const exact_array a = array_of(
      R"([NaN, nan, -nan, "nan", "NaN", Infinity, inf, +inf, "Infinity", "+Inf", -Infinity, -inf, "-inf", "-INFINITY", 1])");
  for (std::size_t i = 0; i < 5; ++i) CHECK(std::isnan(a.values[i]));
  for (std::size_t i = 5; i < 10; ++i) CHECK(a.values[i] == INFINITY);
  for (std::size_t i = 10; i < 14; ++i) CHECK(a.values[i] == -INFINITY);
  CHECK(a.values[14] == 1);
  CHECK(a.beyond.empty());
}

TEST_CASE("what is no array of numbers is refused, with its place") {
  const std::string prefix = "mine.json: array expected.weights: ";
  CHECK(array_message("1.5") == prefix + "it is a number: expected a list of rows, such as [[1, 0], [0, 1]]");
  CHECK(array_message("null") == prefix + "it is null: expected a list of rows, such as [[1, 0], [0, 1]]");
  CHECK(array_message("[]") == prefix + "it is empty: give at least one row");
  CHECK(array_message("[[]]") == prefix + "row 0 is empty: give each list an element");
  CHECK(array_message("[[[1], []], [[1], [2]]]") ==
        prefix + "list [0, 1] has 0 elements and list [0, 0] has 1: make all rows equally long");
  CHECK(array_message("[[1, 2], [3]]") ==
        prefix + "row 1 has 1 elements and row 0 has 2: make all rows equally long");
  CHECK(array_message("[[1, 2], 3]") ==
        prefix + "row 1 is a number, and the first one is a list: nest all alike");
  CHECK(array_message("[[1, 2], [3, [4]]]") ==
        prefix + "element [1, 1] is a list, and the first one is none: nest all alike");
  CHECK(array_message("[[1, null]]") == prefix +
                                            "element [0, 1] is null, which may stand for NaN or for "
                                            "infinity: write NaN, Infinity or -Infinity");
  CHECK(array_message("[[true]]") == prefix + "element [0, 0] is a boolean: expected a number");
  CHECK(array_message("[[{}]]") == prefix + "element [0, 0] is an object: expected a number");
  CHECK(array_message("[[1e400]]") ==
        prefix +
            "element [0, 0]: \"1e400\" overflows binary64: write Infinity, or the exact number as a string");
  CHECK(array_message(R"([["one"]])") ==
        prefix +
            "element [0, 0]: \"one\" is no number: write an integer, a rational \"1/3\", a decimal \"0.1\" "
            "or a hexadecimal float \"0x1.8p-3\"");
  CHECK_THAT(array_message(R"([[1], ["1e9999"]])"),
             attest_testing::ContainsSubstring(prefix +
                                               "element [1, 0]: \"1e9999\" is past the limits of a number"));
}

TEST_CASE("what is no attention-v1 file is refused") {
  CHECK(
      message("[1]") ==
      R"(mine.json: the file holds a list: expected an object, such as {"expected": {"output": [[1, 0], [0, 1]]}})");
  CHECK(message("{}") ==
        R"(mine.json: the key "expected", which holds the arrays, is missing: put it there)");
  CHECK(
      message(R"({"expected": []})") ==
      R"(mine.json: expected is a list: expected an object of arrays, such as {"output": [[1, 0], [0, 1]]})");
  CHECK(message(R"({"expected": {}})") == "mine.json: expected holds no array: put it there");
  CHECK(message(R"({"version": "attention-v2", "expected": {"a": [1]}})") ==
        R"(mine.json: version is "attention-v2": expected "attention-v1")");
  CHECK(message(R"({"version": "attention-v1", "else": {}, "expected": {"a": [1]}})") == "no error");
  CHECK(message(R"({"expected": {"a": [1], "a": [1]}})") ==
        R"(mine.json: the key "a" occurs twice in one object: keep one of them)");
  CHECK_THAT(message(R"({"expected": {"a": [1]}} 2)"),
             attest_testing::ContainsSubstring("mine.json: not JSON: line 1, column 26"));
  CHECK_THAT(message(""), attest_testing::ContainsSubstring("mine.json: not JSON: line 1, column 1"));
}

TEST_CASE("whether a file has inputs") {
  for (const char* key : {"X", "WQ", "Q", "V"})
    CHECK(has_inputs(json::parse("{\"" + std::string(key) + "\": 1}")));
  CHECK_FALSE(has_inputs(json::parse(R"({"expected": {"Q": [1]}, "x": 1, "mask": [[true]]})")));
}

TEST_CASE("JSON: tokens for NaN and infinity are kept where they are asked for") {
  CHECK(kept("[NaN, -Infinity,Infinity ,nan]") == "[NaN, -Infinity, Infinity, NaN]");
  CHECK(kept("NaN") == "NaN");
  CHECK(kept("[-0, 0, -0.0]") == "[-0, 0, -0.0]");
  CHECK(kept("{\"a\": inf, \"b\": -NAN}") == "{\"a\": Infinity, \"b\": NaN}");
  // In strings they are text, and so is what stands for them while a text is read.
  CHECK(kept(R"(["NaN", "a \" inf", "\\", NaN])") == R"(["NaN", "a \" inf", "\\", NaN])");
  CHECK(json::parse("[\"NaN\", NaN]", json::not_finite::kept).items[0].type == json::kind::string);
  CHECK(json::parse("[\"NaN\", NaN]", json::not_finite::kept).items[1].type == json::kind::number);
  CHECK(json::parse("[\"\\u007f\", 1]", json::not_finite::kept).items[0].type == json::kind::string);
  CHECK_THAT(syntax_message("[\"\\u007f\", NaN]"),
             attest_testing::ContainsSubstring("NaN and infinity are not JSON"));
  CHECK(json::parse("[\"\x7f\", 1]", json::not_finite::kept).items[0].type == json::kind::string);
  CHECK_THAT(syntax_message("[\"\x7f\", NaN]"),
             attest_testing::ContainsSubstring("NaN and infinity are not JSON"));

  for (const char* text : {"[NaNs]", "[xNaN]", "[1NaN]", "[NaN1]", "[--inf]", "[in]", "[NaN NaN]", "[NaN",
                           "[.nan]", "[nan.0]", "[+1]"})
    CHECK_THAT(syntax_message(text), attest_testing::ContainsSubstring("not JSON"));
  CHECK(syntax_message("{NaN: 1}") == "not JSON: NaN is no key: put it into quotes");
  CHECK_THAT(syntax_message("[NaN, 1, x]"), attest_testing::ContainsSubstring("line 1, column 10"));
  CHECK_THAT(syntax_message("[NaN]", json::not_finite::refused),
             attest_testing::ContainsSubstring("byte 2: NaN and infinity are not JSON"));
}
