#include "contains.hpp"

#include <attest/io/attention_file.hpp>
#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>

#include <random>
#include <string>

using namespace attest;
using namespace attest::io;
using attest_testing::ContainsSubstring;

namespace {

std::string reference_of(std::string_view text, unsigned digits = 50, decimals meaning = decimals::nearest_binary64) {
  const case_file file = read_case(text, "case.json", meaning);
  return attention_v1(file, attention(file.problem, {digits}), "case.json");
}

json::value parsed(std::string_view text) { return json::parse(text); }
std::string written(const json::value& root, std::string_view key) {
  const json::value* v = root.find(key);
  return v == nullptr ? "missing" : json::write(*v);
}

}  // namespace

TEST_CASE("attention-v1 of the chapter: its keys in their order, and the published arrays but for one binary64") {
  const std::string text = reference_of(read_file(ATTEST_SOURCE_DIR "/data/chapter15.json"));
  const json::value root = parsed(text);
  CHECK(root.keys == std::vector<std::string>{"version", "provenance", "positions", "X", "WQ", "WK", "WV", "expected",
                                              "derivation", "tolerance", "display_decimals", "attest"});
  CHECK(written(root, "version") == R"("attention-v1")");
  CHECK(written(root, "positions") == R"(["red", "key", "."])");
  CHECK(written(root, "tolerance") == "1e-12");
  CHECK(written(root, "display_decimals") == "6");
  CHECK(written(root, "X") == "[[1, 0], [0, 1], [1, 1]]");
  CHECK(written(root, "WK") == "[[1, 1], [0, 1]]");

  // As published, but 0.19777581464042818 for 0.1977758146404282.
  const json::value& expected = *root.find("expected");
  CHECK(expected.keys == std::vector<std::string>{"Q", "K", "V", "dots", "weights", "output"});
  CHECK(written(expected, "Q") == "[[1, 0], [0, 1], [1, 1]]");
  CHECK(written(expected, "K") == "[[1, 1], [0, 1], [1, 2]]");
  CHECK(written(expected, "V") == "[[1, 0], [1, 2], [2, 2]]");
  CHECK(written(expected, "dots") == "[[1, 0, 1], [1, 1, 2], [2, 1, 3]]");
  CHECK(written(expected, "weights") ==
        "[[0.4011120926797859, 0.19777581464042818, 0.4011120926797859], [0.24825507825772308, 0.24825507825772308, "
        "0.5034898434845538], [0.28399540974126003, 0.14002924504337802, 0.575975345215362]]");
  CHECK(written(expected, "output") ==
        "[[1.401112092679786, 1.1977758146404283], [1.5034898434845538, 1.5034898434845538], [1.575975345215362, 1.43200918051748]]");
}

TEST_CASE("the block attest: symbolic rows, r, decimals, log-sum-exp") {
  const json::value root = parsed(reference_of(read_file(ATTEST_SOURCE_DIR "/data/chapter15.json"), 12));
  const json::value& block = *root.find("attest");
  CHECK(block.keys == std::vector<std::string>{"version", "digits", "r", "weights", "output", "log_sum_exp"});
  CHECK(written(block, "version") == R"("attest-v1")");
  CHECK(written(block, "digits") == "12");
  CHECK(written(block, "r") == R"-({"meaning": "exp(1/sqrt(2))", "decimal": "2.02811498165"})-");
  CHECK(written(*block.find("weights"), "rows") == R"-(["[r, 1, r]/(2r + 1)", "[1, 1, r]/(2 + r)", "[r, 1, r^2]/(r + 1 + r^2)"])-");
  CHECK_THAT(written(*block.find("weights"), "decimals"), ContainsSubstring(R"([["0.401112092680", "0.197775814640", )"));
  CHECK(written(*block.find("output"), "rows") ==
        R"-(["[3r + 1, 2 + 2r]/(2r + 1)", "[2 + 2r, 2 + 2r]/(2 + r)", "[r + 1 + 2r^2, 2 + 2r^2]/(r + 1 + r^2)"])-");
  CHECK_THAT(written(*block.find("output"), "decimals"), ContainsSubstring(R"([["1.40111209268", "1.19777581464"], )"));
  CHECK(written(*block.find("log_sum_exp"), "base") == R"("e")");
  CHECK(written(*block.find("log_sum_exp"), "decimals") == R"(["1.62062113906", "2.10040530123", "2.67301076621"])");
}

TEST_CASE("exact integers are integers, everything else has a point or an exponent") {
  const json::value root = parsed(reference_of(
      R"({"Q": [[100000000000000000000000000000001, 0]], "K": [[1, 2.5], [1, 1e300]], "V": [[3, 0.1], [3, "1/3"]]})"));
  CHECK(written(root, "Q") == "[[100000000000000000000000000000001, 0]]");
  CHECK(written(root, "K").substr(0, 20) == "[[1, 2.5], [1, 10000");
  CHECK(written(root, "V") == "[[3, 0.1], [3, 0.3333333333333333]]");
  const json::value& expected = *root.find("expected");
  CHECK(written(expected, "dots") == "[[100000000000000000000000000000001, 100000000000000000000000000000001]]");
  CHECK(written(expected, "weights") == "[[0.5, 0.5]]");
  CHECK(written(expected, "output") == "[[3, 0.21666666666666667]]");
  // A weight that rounds to one or zero and is neither is no integer.
  const json::value far = parsed(reference_of(R"({"Q": [[1]], "K": [[0], [-1000]], "V": [[0], [-1]]})"));
  CHECK(written(*far.find("expected"), "weights") == "[[1.0, 0.0]]");
  CHECK(written(*far.find("expected"), "output") == "[[-0.0]]");
  // A masked key's is.
  const json::value masked = parsed(reference_of(R"({"Q": [[1]], "K": [[0], [0]], "V": [[1], [2]], "mask": [[true, false]]})"));
  CHECK(written(masked, "mask") == "[[true, false]]");
  CHECK(written(*masked.find("expected"), "weights") == "[[1, 0]]");
  CHECK(written(*masked.find("expected"), "output") == "[[1]]");
}

TEST_CASE("inputs that no number of the file holds are kept exactly in the block") {
  const std::string text = R"({"Q": [["1/3", 1]], "K": [[1, 2]], "V": [["0x1.00000000000000001p0"]], "scale": "2/3"})";
  const json::value root = parsed(reference_of(text));
  CHECK(written(root, "Q") == "[[0.3333333333333333, 1]]");
  CHECK(written(root, "V") == "[[1.0]]");
  CHECK(written(root, "scale") == R"("2/3")");
  CHECK(written(*root.find("attest"), "inputs") == R"({"Q": [["1/3", "1"]], "V": [["0x1.00000000000000001p0"]]})");
  CHECK(root.find("attest")->find("r") == nullptr);
  CHECK(written(parsed(reference_of(R"({"Q": [[1]], "K": [[1]], "V": [[1]], "scale": 0.25})")), "scale") == "0.25");
  CHECK(written(parsed(reference_of(R"({"Q": [[1]], "K": [[1]], "V": [[1]], "scale": "1/8"})")), "scale") == "0.125");
}

TEST_CASE("the file is a case, with itself as its reference") {
  for (const std::string& text :
       {read_file(ATTEST_SOURCE_DIR "/data/chapter15.json"),
        std::string(R"({"X": [[0.1, "1/3"], [2, -3]], "Y": [["0.1"], [5e-324]], "WQ": [[1, 2, 3], [4, 5, 6]], "WK": [[0.5, 1, 2]],
                        "WV": [[1e300]], "mask": [[true, true], [false, true]], "scale": "1/7", "provenance": "a \"quoted\" é\n"})"),
        std::string(R"({"Q": [[12345678901234567890123]], "K": [[-0.0], [1e-300]], "V": [[1, 2], [3, 4]], "scale": 1e-30})")}) {
    const std::string once = reference_of(text);
    CHECK(reference_of(once) == once);
    CHECK(reference_of(text) == once);
  }
}

TEST_CASE("what overflows binary64 and is no integer is refused") {
  const std::string huge = "1" + std::string(400, '0') + "/3";
  const auto message = [&](const std::string& text) {
    try {
      reference_of(text);
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(message(R"({"Q": [["1/3"]], "K": [[1]], "V": [[")" + huge + R"("]]})"),
             ContainsSubstring("case.json: array V: element [0, 0] overflows binary64, in which attention-v1 is written: scale the inputs down"));
  CHECK_THAT(message(R"({"Q": [[1]], "K": [[1], [2]], "V": [["1e400"], ["2e400"]]})"),
             ContainsSubstring("case.json: array expected.output: element [0, 0] overflows binary64"));
  CHECK(message(R"({"Q": [[1]], "K": [[1]], "V": [["1e400"]]})") == "no error");
}

TEST_CASE("a long matrix stands on one line a row") {
  std::string row = "[";
  for (int i = 0; i < 60; ++i) row += (i ? ", " : "") + std::to_string(i * 1001);
  row += "]";
  const std::string text = reference_of("{\"Q\": [" + row + "], \"K\": [" + row + ", " + row + "], \"V\": [[1], [2]]}", 5);
  CHECK_THAT(text, ContainsSubstring("\n  \"K\": [\n    " + row + ",\n    " + row + "\n  ],\n"));
  CHECK(text.ends_with("\n}\n"));
}
