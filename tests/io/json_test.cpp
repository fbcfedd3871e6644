#include "contains.hpp"

#include <attest/io/json.hpp>

#include <string>

using namespace attest::io;
using attest_testing::ContainsSubstring;
using json::kind;

namespace {

std::string message_of(std::string_view text) {
  try {
    json::parse(text);
  } catch (const json::syntax_error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("numbers keep their text") {
  const auto root = json::parse(R"([0, -12, 18446744073709551615, 18446744073709551616, -9223372036854775809,
                                    0.10, 1E+5, -0.0, 1e-9999, 2.50e3])");
  std::vector<std::string> tokens;
  for (const auto& item : root.items) {
    CHECK(item.type == kind::number);
    tokens.push_back(item.text);
  }
  CHECK(tokens == std::vector<std::string>{"0", "-12", "18446744073709551615", "18446744073709551616",
                                           "-9223372036854775809", "0.10", "1E+5", "-0.0", "1e-9999", "2.50e3"});
  // Past the range of binary64, where the library underneath would stop at 10^308.
  const std::string digits(4000, '7');
  CHECK(json::parse('[' + digits + ']').items.at(0).text == digits);
}

TEST_CASE("objects keep the order of their keys") {
  const auto root = json::parse(R"({"b": 1, "a": {"z": null, "y": true}, "": "text\n\u00e9"})");
  CHECK(root.type == kind::object);
  CHECK(root.keys == std::vector<std::string>{"b", "a", ""});
  REQUIRE(root.find("a") != nullptr);
  CHECK(root.find("a")->find("z")->type == kind::null);
  CHECK(root.find("a")->find("y")->truth);
  CHECK(root.find("")->text == "text\n\xc3\xa9");
  CHECK(root.find("c") == nullptr);
}

TEST_CASE("writing and reading again gives the same text") {
  const std::string text = R"({"a": [1, 2.50, "x\"\\\n\t\u0001é", null, true, false], "b": {}, "c": []})";
  CHECK(json::write(json::parse(text)) == text);
}

TEST_CASE("duplicate keys are refused at every level") {
  CHECK_THAT(message_of(R"({"X": 1, "X": 2})"), ContainsSubstring(R"(the key "X" occurs twice)"));
  CHECK_THAT(message_of(R"({"a": [{"k": 1, "l": 2, "k": 3}]})"), ContainsSubstring(R"(the key "k" occurs twice)"));
  CHECK_THAT(message_of(R"({"a": 1, "\u0061": 2})"), ContainsSubstring(R"(the key "a" occurs twice)"));
  CHECK(message_of(R"({"a": {"a": {"a": 1}}, "b": {"a": 1}})") == "no error");
}

TEST_CASE("nesting is limited") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(message_of(nested(json::maximum_depth)) == "no error");
  CHECK_THAT(message_of(nested(json::maximum_depth + 1)), ContainsSubstring("nest deeper than 64 levels"));
  CHECK_THAT(message_of(std::string(1000000, '[')), ContainsSubstring("nest deeper than 64 levels"));
}

TEST_CASE("what is not JSON is refused with its place") {
  CHECK_THAT(message_of(""), ContainsSubstring("not JSON: line 1, column 1"));
  CHECK_THAT(message_of("{\"X\": [1, 2}"), ContainsSubstring("not JSON: line 1, column 12"));
  CHECK_THAT(message_of("{\n  \"X\": 1,\n  Y: 2}"), ContainsSubstring("not JSON: line 3, column 3"));
  for (const char* text : {"[1,]", "[01]", "[+1]", "[.5]", "[1.]", "[1e]", "[0x10]", "{} {}", "[1] x", "{\"a\"}", "{'a': 1}", "[1 2]",
                           "[true", "\"open", "[\"a\tb\"]", "// comment\n[]", "[1] // comment", "nul", "[\"\\q\"]", "[\"\\ud800\"]",
                           "[\"\xff\"]", "[\"\xc0\x80\"]", "\xff\xfe["}) {
    CAPTURE(text);
    CHECK_THAT(message_of(text), ContainsSubstring("not JSON: line "));
  }
  // A NUL does not end the text.
  CHECK_THAT(message_of(std::string_view("[1]\0", 4)), ContainsSubstring("not JSON: byte 4 is NUL"));
  CHECK_THAT(message_of(std::string_view("{\"a\": 1}\0{", 11)), ContainsSubstring("not JSON: byte 9 is NUL"));
}

TEST_CASE("NaN and infinity are refused as such") {
  for (const char* text : {"[NaN]", "[nan]", "[Infinity]", "[-Infinity]", "[inf]", "[-inf]", "NaN", "[1, NaN, 2]", "{\"a\": -Infinity}"}) {
    CAPTURE(text);
    CHECK_THAT(message_of(text), ContainsSubstring("NaN and infinity are not JSON and not exact numbers"));
  }
}

TEST_CASE("a number that the library underneath cannot hold is past the limits") {
  CHECK_THAT(message_of("[1e5000]"), ContainsSubstring("\"1e5000\" is past the limits of a number"));
  CHECK_THAT(message_of('[' + std::string(6000, '9') + ']'), ContainsSubstring("is past the limits of a number"));
}

TEST_CASE("a byte order mark is skipped") { CHECK(message_of("\xef\xbb\xbf[1]") == "no error"); }
