#include "contains.hpp"

#include <attest/io/attention_file.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/input_error.hpp>
#include <attest/reference/attention.hpp>

#include <string>
#include <vector>

using namespace attest;
using namespace attest::io;
using attest_testing::ContainsSubstring;

// A batch is read as its examples, each on its own; what stands once is the same for all; and its reference has, for each
// example, what that example has alone.

namespace {

std::string reference_of(std::string_view text) {
  const case_batch batch = read_batch(text, "case.json");
  std::vector<attention_reference> answers;
  for (const problem& p : batch.examples) answers.push_back(attention(p, {20}));
  return attention_v1(batch, answers, "case.json");
}

std::string message_of(std::string_view text) {
  try {
    read_batch(text, "case.json");
  } catch (const input_error& e) {
    return e.what();
  }
  return "no error";
}

std::string projected(std::string_view x, std::string_view more = "") {
  return R"({"X": )" + std::string(x) + R"(, "WQ": [[1, 0], [0, 1]], "WK": [[1, 1], ["1/3", 1]], "WV": [[0.5, 0], [1, 2]])" +
         std::string(more) + '}';
}

const std::string first = "[[1, 0], [0.5, 1]]";
const std::string second = "[[2, -1], [3, 0]]";

std::string item(const json::value& array, std::size_t b) { return json::write(array.items.at(b)); }

}  // namespace

TEST_CASE("a batch of sequences shares the weight matrices") {
  const case_batch batch = read_batch(projected('[' + first + ", " + second + ']'), "c");
  REQUIRE(batch.examples.size() == 2);
  CHECK(batch.is_batch());
  CHECK(batch.per_example == std::vector<std::string>{"X"});
  CHECK(batch.has_leading_level("X"));
  CHECK_FALSE(batch.has_leading_level("WQ"));
  const auto& a = std::get<projected_inputs>(batch.examples[0].inputs);
  const auto& b = std::get<projected_inputs>(batch.examples[1].inputs);
  CHECK(element(a.x, 0, 0) == exact_scalar(unbounded_dyadic(1)));
  CHECK(element(b.x, 0, 0) == exact_scalar(unbounded_dyadic(2)));
  CHECK(element(a.wk, 1, 0) == element(b.wk, 1, 0));
  CHECK_FALSE(read_batch(projected(first), "c").is_batch());
  CHECK(read_batch(projected('[' + first + ']'), "c").is_batch());
}

TEST_CASE("the reference of a batch has what each example has alone") {
  const std::string mask = R"(, "mask": [[true, false], [true, true]])";
  const json::value both = json::parse(reference_of(projected('[' + first + ", " + second + ']', mask)));
  for (std::size_t b = 0; b < 2; ++b) {
    const json::value alone = json::parse(reference_of(projected(b == 0 ? first : second, mask)));
    CHECK(item(*both.find("X"), b) == json::write(*alone.find("X")));
    CHECK(json::write(*both.find("WK")) == json::write(*alone.find("WK")));
    CHECK(json::write(*both.find("mask")) == json::write(*alone.find("mask")));
    const json::value& expected = *alone.find("expected");
    CHECK(both.find("expected")->keys == expected.keys);
    for (const std::string& key : expected.keys)
      CHECK(item(*both.find("expected")->find(key), b) == json::write(*expected.find(key)));
    const json::value& block = *alone.find("attest");
    CHECK(both.find("attest")->keys == block.keys);
    CHECK(json::write(*both.find("attest")->find("inputs")) == json::write(*block.find("inputs")));
    for (const char* array : {"weights", "output"})
      for (const char* part : {"rows", "decimals"})
        CHECK(item(*both.find("attest")->find(array)->find(part), b) == json::write(*block.find(array)->find(part)));
    CHECK(item(*both.find("attest")->find("log_sum_exp")->find("decimals"), b) ==
          json::write(*block.find("log_sum_exp")->find("decimals")));
  }
}

TEST_CASE("a batch's reference is a case of the same batch, exact inputs included") {
  const std::string text = reference_of(projected("[[[1, \"1/3\"], [0.5, 1]], [[2, -1], [3, 0]]]"));
  CHECK_THAT(text, ContainsSubstring(R"(["1", "1/3"])"));
  CHECK(reference_of(text) == text);
  // A batch of one keeps its level.
  const std::string one = reference_of(projected('[' + first + ']'));
  CHECK(json::parse(one).find("expected")->find("output")->items.size() == 1);
  CHECK(reference_of(one) == one);
}

TEST_CASE("queries, keys, values and masks with and without the level") {
  const case_batch batch = read_batch(R"({"Q": [[[1]], [[2]]], "K": [[1], [2]], "V": [[[1], [2]], [[3], [4]]],
                                          "mask": [[[true, false]], [[false, true]]], "scale": "1/2"})", "c");
  CHECK(batch.per_example == std::vector<std::string>{"Q", "V", "mask"});
  CHECK(element(std::get<head_inputs>(batch.examples[1].inputs).v, 0, 0) == exact_scalar(unbounded_dyadic(3)));
  CHECK((*batch.examples[1].mask)(0, 1));
  CHECK_FALSE((*batch.examples[0].mask)(0, 1));
  CHECK(batch.examples[1].scale.has_value());
  const std::string text = reference_of(R"({"Q": [[[1]], [[2]]], "K": [[1], [2]], "V": [[[1], [2]], [[3], [4]]],
                                            "mask": [[[true, false]], [[false, true]]]})");
  CHECK(reference_of(text) == text);
  CHECK_THAT(json::write(*json::parse(text).find("expected")->find("output")), ContainsSubstring("[[[1]], [[4]]]"));
}

TEST_CASE("names of positions: for all examples, or for each") {
  const std::string x = '[' + first + ", " + second + ']';
  CHECK(message_of(projected(x, R"(, "positions": ["a", "b"])")) == "no error");
  CHECK(message_of(projected(x, R"(, "positions": [["a", "b"], ["c", "d"]])")) == "no error");
  CHECK_THAT(message_of(projected(x, R"(, "positions": [["a", "b"], ["c"]])")),
             ContainsSubstring("positions of example 1 has 1 names for 2 queries"));
  CHECK_THAT(message_of(projected(x, R"(, "positions": [["a", "b"], "c"])")),
             ContainsSubstring("positions of example 1: it is a string"));
  CHECK_THAT(message_of(projected(first, R"(, "positions": [["a", "b"]])")), ContainsSubstring("positions holds a list"));
}

TEST_CASE("what is ragged or does not match is refused") {
  struct refusal {
    std::string text;
    std::string message;
  };
  const std::vector<refusal> refusals = {
      {projected('[' + first + ", [[1, 2]]]"), "case.json: array X: example 1 has shape [1, 2] and example 0 has [2, 2]"},
      {projected('[' + first + ", [[1, 2], [3]]]"), "case.json: array X: example 1: row 1 has 1 elements and row 0 has 2"},
      {projected('[' + first + ", []]"), "case.json: array X: example 1: it is empty"},
      {projected("[[[[1]]]]"), "case.json: array X: example 0: element [0, 0] is a list"},
      {R"({"X": [[1]], "WQ": [[[1]]], "WK": [[1]], "WV": [[1]]})",
       "case.json: array WQ: it has a leading list level, for a batch, and X has none: give X one, too"},
      {R"({"X": [[[1]], [[2]]], "WQ": [[[1]]], "WK": [[1]], "WV": [[1]]})",
       "case.json: array WQ: it has 1 examples and X has 2: give as many, or one matrix for all"},
      {R"({"Q": [[[1]], [[1, 2]]], "K": [[1]], "V": [[1]]})", "case.json: array Q: example 1 has shape [1, 2]"},
      {R"({"Q": [[[1]]], "K": [[1, 2]], "V": [[1]]})", "case.json: example 0: array K: shape [1, 2] does not fit Q of shape [1, 1]"},
      {R"({"Q": [[[1]], [[1]]], "K": [[1]], "V": [[1]], "mask": [[[true]], [[false]]]})",
       "case.json: example 1: array mask: row 0 sees no key"},
      {R"({"Q": [[[1]]], "K": [[1]], "V": [[1]], "attest": {"inputs": {"Q": [["1"]]}}})",
       "case.json: array Q: it and attest.inputs.Q have different shapes"},
      {R"({"Q": [[[1]], [[2]]], "K": [[1]], "V": [[1]], "attest": {"inputs": {"Q": [[["1"]], [["7"]]]}}})",
       "case.json: array Q: example 1: element [0, 0] is not what attest.inputs.Q rounds to"},
  };
  for (const refusal& r : refusals) {
    CAPTURE(r.text);
    CHECK_THAT(message_of(r.text), ContainsSubstring(r.message));
  }
}
