#include "contains.hpp"

#include <attest/io/case_file.hpp>
#include <attest/io/input_error.hpp>

#include <string>

using namespace attest;
using namespace attest::io;
using attest_testing::ContainsSubstring;

namespace {

constexpr std::string_view chapter =
    R"({"X": [[1, 0], [0, 1], [1, 1]], "WQ": [[1, 0], [0, 1]], "WK": [[1, 1], [0, 1]], "WV": [[1, 0], [1, 2]])";

std::string with(std::string_view more) { return std::string(chapter) + ", " + std::string(more) + '}'; }

std::string direct(std::string_view q, std::string_view k, std::string_view v) {
  return "{\"Q\": " + std::string(q) + ", \"K\": " + std::string(k) + ", \"V\": " + std::string(v) + '}';
}

std::string message_of(std::string_view text, decimals meaning = decimals::nearest_binary64) {
  try {
    read_case(text, "case.json", meaning);
  } catch (const input_error& e) {
    return e.what();
  }
  return "no error";
}

const projected_inputs& projected(const case_file& file) { return std::get<projected_inputs>(file.problem.inputs); }
exact_scalar integer_value(long long n) { return unbounded_dyadic(unbounded_integer(n)); }

}  // namespace

TEST_CASE("a case from a sequence") {
  const case_file file = read_case(with(R"("version": "attention-v1", "positions": ["red", "key", "."], "tolerance": 1e-12)"), "c");
  const auto& in = projected(file);
  CHECK(rows(in.x) == 3);
  CHECK(columns(in.x) == 2);
  CHECK(element(in.wv, 1, 1) == integer_value(2));
  CHECK_FALSE(in.y.has_value());
  CHECK_FALSE(file.problem.mask.has_value());
  CHECK_FALSE(file.problem.scale.has_value());
  REQUIRE(file.find_kept("tolerance") != nullptr);
  CHECK(file.find_kept("tolerance")->text == "1e-12");
  CHECK(file.find_kept("positions")->items.size() == 3);
  CHECK(file.find_kept("version") == nullptr);
}

TEST_CASE("a case from queries, keys and values") {
  const case_file file = read_case(R"({"Q": [[1, 2]], "K": [[0.5, "1/3"], [1, "0x1p-2"]], "V": [[1, 2, 3], [4, 5, 6]],
                                       "mask": [[true, false]], "scale": "1/8"})", "c");
  const auto& in = std::get<head_inputs>(file.problem.inputs);
  CHECK(is_dyadic(in.q));
  CHECK_FALSE(is_dyadic(in.k));
  CHECK(element(in.k, 0, 1) == exact_ratio(unbounded_integer(1), unbounded_integer(3)));
  CHECK(element(in.k, 1, 1) == exact_ratio(unbounded_integer(1), unbounded_integer(4)));
  CHECK(columns(in.v) == 3);
  REQUIRE(file.problem.mask.has_value());
  CHECK((*file.problem.mask)(0, 0));
  CHECK_FALSE((*file.problem.mask)(0, 1));
  CHECK(file.problem.scale == exact_scalar(unbounded_dyadic(unbounded_integer(1), -3)));
}

TEST_CASE("cross-attention from two sequences") {
  const case_file file = read_case(R"({"X": [[1, 2, 3]], "Y": [[1, 2], [3, 4]], "WQ": [[1], [1], [1]], "WK": [[1], [2]],
                                       "WV": [[1, 0, 0], [0, 1, 0]]})", "c");
  const extents e = checked_extents(file.problem);
  CHECK(e.queries == 1);
  CHECK(e.keys == 2);
  CHECK(e.key_width == 1);
  CHECK(e.value_width == 3);
}

TEST_CASE("--decimal reaches arrays and the scale") {
  const std::string text = R"({"Q": [[0.1]], "K": [[1]], "V": [[1]], "scale": 0.1})";
  const exact_scalar tenth = exact_ratio(unbounded_integer(1), unbounded_integer(10));
  const case_file exact = read_case(text, "c", decimals::exact);
  CHECK(element(std::get<head_inputs>(exact.problem.inputs).q, 0, 0) == tenth);
  CHECK(exact.problem.scale == tenth);
  const case_file rounded = read_case(text, "c");
  CHECK(rounded.problem.scale == exact_scalar(exact_value<unbounded_integer>(0.1)));
  CHECK(is_dyadic(rounded.problem));
}

// Each row: a file, and the line that says what is wrong with it.
TEST_CASE("bad cases are refused in one line that names file, array, place and remedy") {
  const std::string both = "either X, WQ, WK and WV (with Y for cross-attention), or Q, K and V";
  const struct {
    std::string text, message;
  } table[] = {
      {"[1, 2]", "case.json: the file holds a list: expected an object with X, WQ, WK and WV, or Q, K and V"},
      {"3", "case.json: the file holds a number: expected an object"},
      {"", "case.json: not JSON: line 1, column 1"},
      {"{", "case.json: not JSON: line 1, column 2"},
      {std::string(chapter) + "} {}", "case.json: not JSON: line 1, column"},
      {with(R"("X": [[1]])"), R"(case.json: the key "X" occurs twice in one object: keep one of them)"},
      {with(R"("expected": {"Q": 1, "Q": 2})"), R"(case.json: the key "Q" occurs twice)"},

      // keys
      {R"({"X": [[1]], "Wq": [[1]], "WK": [[1]], "WV": [[1]]})", R"(case.json: the key "Wq" is not known: did you mean "WQ"?)"},
      {with(R"("W_Q": [[1]])"), R"(the key "W_Q" is not known: did you mean "WQ"?)"},
      {with(R"("x": [[1]])"), R"(the key "x" is not known: did you mean "X"?)"},
      {with(R"("maks": [[1]])"), R"(the key "maks" is not known: did you mean "mask"?)"},
      {with(R"("weather": [[1]])"), R"(the key "weather" is not known: remove it)"},
      {with(R"("softcap": 30)"), R"(the key "softcap" is not known: it is an option: give it to attest reference as --softcap)"},
      {with(R"("past_keys": 1)"), R"(it is an option: give it to attest reference as --past-keys)"},
      {with(R"("bias": [[1]])"), R"(the key "bias" is not known: it is read with arrays)"},
      {with(R"("masks": [[1]])"), R"(the key "masks" is not known: did you mean "mask"?)"},
      {with(R"("Scale": 1)"), R"(the key "Scale" is not known: did you mean "scale"?)"},
      {with(R"("position": [])"), R"(the key "position" is not known: did you mean "positions"?)"},
      {with(R"("": 1)"), R"(the key "" is not known: remove it)"},
      {with(R"("version": "attention-v2")"), R"(case.json: version is "attention-v2": expected "attention-v1")"},
      {with(R"("version": 1)"), R"(case.json: version is 1: expected "attention-v1")"},

      // which arrays
      {"{}", "case.json: array X: it is missing: give X, WQ, WK and WV, or Q, K and V"},
      {R"({"X": [[1]], "WQ": [[1]], "WV": [[1]]})", "case.json: array WK: it is missing"},
      {R"({"Q": [[1]], "V": [[1]]})", "case.json: array K: it is missing"},
      {R"({"Y": [[1]], "WQ": [[1]], "WK": [[1]], "WV": [[1]]})", "case.json: array X: it is missing"},
      {with(R"("Q": [[1]])"), "case.json: arrays X and Q are both given: give " + both},
      {R"({"WV": [[1]], "K": [[1]]})", "case.json: arrays WV and K are both given: give " + both},
      {R"({"Y": [[1]], "Q": [[1]], "K": [[1]], "V": [[1]]})", "case.json: arrays Y and Q are both given"},

      // what an array is
      {direct("5", "[[1]]", "[[1]]"), "case.json: array Q: it is a number: expected a list of rows, such as [[1, 0], [0, 1]]"},
      {direct("null", "[[1]]", "[[1]]"), "case.json: array Q: it is null: expected a list of rows"},
      {direct("[]", "[[1]]", "[[1]]"), "case.json: array Q: it is empty: give at least one row"},
      {direct("[[1]]", "[[]]", "[[1]]"), "case.json: array K: row 0 is empty: give at least one element in each row"},
      {direct("[[1], []]", "[[1]]", "[[1]]"), "case.json: array Q: row 1 is empty"},
      {direct("[1, 2]", "[[1]]", "[[1]]"), "case.json: array Q: row 0 is a number: expected a list of rows"},
      {direct("[[1], {}]", "[[1]]", "[[1]]"), "case.json: array Q: row 1 is an object: expected a list of rows"},
      {direct("[[1]]", "[[1]]", "[[1, 2], [3]]"), "case.json: array V: row 1 has 1 elements and row 0 has 2: make all rows equally long"},
      {direct("[[1, null]]", "[[1]]", "[[1]]"), "case.json: array Q: element [0, 1] is null: expected a number, or a string such as \"1/3\""},
      {direct("[[1], [true]]", "[[1]]", "[[1]]"), "case.json: array Q: element [1, 0] is a boolean: expected a number"},
      {direct("[[[1]]]", "[[1]]", "[[1]]"), "case.json: array Q: it has a leading list level, for a batch: this command takes one example at a time"},
      {direct("[[{}]]", "[[1]]", "[[1]]"), "case.json: array Q: element [0, 0] is an object: expected a number"},

      // numbers
      {direct("[[NaN]]", "[[1]]", "[[1]]"), "case.json: byte 9: NaN and infinity are not JSON and not exact numbers: remove them"},
      {direct("[[1, -Infinity]]", "[[1]]", "[[1]]"), "NaN and infinity are not JSON"},
      {direct("[[\"NaN\"]]", "[[1]]", "[[1]]"), "case.json: array Q: element [0, 0]: \"NaN\" is no number: write an integer"},
      {direct("[[1e400]]", "[[1]]", "[[1]]"), "case.json: array Q: element [0, 0]: \"1e400\" overflows binary64: write it as a string, or read it with --decimal"},
      {direct("[[1], [\"1/0\"]]", "[[1]]", "[[1]]"), "case.json: array Q: element [1, 0]: \"1/0\" has a zero denominator"},
      {direct("[[1e-4001]]", "[[1]]", "[[1]]"), "case.json: array Q: element [0, 0]: \"1e-4001\" is past the limits of a number: at most 4000 digits"},
      {direct("[[1e99999]]", "[[1]]", "[[1]]"), "case.json: \"1e99999\" is past the limits of a number"},
      {direct("[[" + std::string(4001, '7') + "]]", "[[1]]", "[[1]]"), "is past the limits of a number"},
      {direct("[[\"1\\n\"]]", "[[1]]", "[[1]]"), R"(array Q: element [0, 0]: "1\n" is no number)"},

      // shapes
      {R"({"X": [[1, 2]], "WQ": [[1], [2], [3]], "WK": [[1], [2]], "WV": [[1], [2]]})",
       "case.json: array WQ: shape [3, 1] does not fit X of shape [1, 2]: expected [2, d_k], one row for each column of X"},
      {R"({"X": [[1, 2]], "WQ": [[1], [2]], "WK": [[1]], "WV": [[1], [2]]})",
       "case.json: array WK: shape [1, 1] does not fit X of shape [1, 2]: expected [2, d_k]"},
      {R"({"X": [[1, 2]], "WQ": [[1], [2]], "WK": [[1, 1], [2, 2]], "WV": [[1], [2]]})",
       "case.json: array WK: shape [2, 2] does not fit WQ of shape [2, 1]: expected [2, 1], as many columns as WQ"},
      {R"({"X": [[1, 2]], "WQ": [[1], [2]], "WK": [[1], [2]], "WV": [[1]]})",
       "case.json: array WV: shape [1, 1] does not fit X of shape [1, 2]: expected [2, d_v]"},
      {R"({"X": [[1, 2]], "Y": [[1]], "WQ": [[1], [2]], "WK": [[1], [2]], "WV": [[1]]})",
       "case.json: array WK: shape [2, 1] does not fit Y of shape [1, 1]: expected [1, d_k], one row for each column of Y"},
      {direct("[[1, 2]]", "[[1]]", "[[1]]"), "case.json: array K: shape [1, 1] does not fit Q of shape [1, 2]: expected [Tk, 2], as many columns as Q"},
      {direct("[[1]]", "[[1]]", "[[1], [2]]"), "case.json: array V: shape [2, 1] does not fit K of shape [1, 1]: expected [1, d_v], as many rows as K"},

      // the mask
      {with(R"("mask": true)"), "case.json: array mask: it is a boolean: expected a list of rows, such as [[true, false], [true, true]]"},
      {with(R"("mask": [[1, 1, 1], [1, 1, 1], [1, 1, 1]])"), "case.json: array mask: element [0, 0] is a number: expected true where the query sees the key"},
      {with(R"("mask": [[true, true], [true, true], [true, true]])"), "case.json: array mask: shape [3, 2] does not fit 3 queries and 3 keys: expected [3, 3]"},
      {with(R"("mask": [[true, true, true], [true], [true, true, true]])"), "case.json: array mask: row 1 has 1 elements and row 0 has 3"},
      {with(R"("mask": [[true, true, true], [false, false, false], [true, true, true]])"),
       "case.json: array mask: row 1 sees no key, so its softmax is not defined: make at least one of its elements true"},

      // the scale and the descriptions
      {with(R"("scale": [1])"), R"(case.json: scale is a list: expected a number, or a string such as "1/8")"},
      {with(R"-("scale": "1/sqrt(2)")-"), R"-(case.json: scale: "1/sqrt(2)" is no number)-"},
      {with(R"("scale": 1e999)"), R"(case.json: scale: "1e999" overflows binary64)"},
      {with(R"("positions": ["a", "b"])"), "case.json: positions has 2 names for 3 queries: give one for each"},
      {with(R"("positions": ["a", "b", 3])"), "case.json: positions holds a number: expected a list of strings"},
      {with(R"("positions": "abc")"), "case.json: positions is a string: expected a list with a name for each query"},
      {with(R"("provenance": 1)"), "case.json: provenance is a number: expected a string"},
      {with(R"("derivation": null)"), "case.json: derivation is null: expected a string"},
      {with(R"("tolerance": "1e-12")"), "case.json: tolerance is a string: expected a number that is not negative"},
      {with(R"("tolerance": -1e-12)"), "case.json: tolerance is -1e-12: expected a number that is not negative"},
      {with(R"("display_decimals": 6.5)"), "case.json: display_decimals is 6.5: expected a whole number from 0 to 1000"},
      {with(R"("display_decimals": 1001)"), "case.json: display_decimals is 1001"},
      {with(R"("display_decimals": -1)"), "case.json: display_decimals is -1"},
      {with(R"("display_decimals": 99999999999999999999)"), "case.json: display_decimals is 99999999999999999999"},

      // the block that attest writes
      {with(R"("attest": 1)"), "case.json: attest is a number: expected the block that attest reference writes, or none"},
      {with(R"("attest": {"inputs": []})"), "case.json: attest.inputs is a list"},
      {with(R"("attest": {"inputs": {"X": [["1/3"]]}})"), "case.json: array X: it and attest.inputs.X have different shapes: remove the block \"attest\""},
      {with(R"("attest": {"inputs": {"WQ": [["1/3", 0], [0, 1]]}})"),
       "case.json: array WQ: element [0, 0] is not what attest.inputs.WQ rounds to: remove the block \"attest\""},
      {with(R"("attest": {"inputs": {"WQ": [["one", 0], [0, 1]]}})"), "case.json: array attest.inputs.WQ: element [0, 0]: \"one\" is no number"},
  };
  for (const auto& bad : table) {
    CAPTURE(bad.text.substr(0, 300));
    const std::string message = message_of(bad.text);
    CHECK_THAT(message, ContainsSubstring(bad.message));
    CHECK(message.starts_with("case.json: "));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("messages stay on one line whatever the file and its name hold") {
  try {
    read_case("{\"a\\nb\": 1}", "two\nlines\x1b[31m.json");
    FAIL("no error");
  } catch (const input_error& e) {
    CHECK_THAT(e.what(), ContainsSubstring("two\\nlines\\x1b[31m.json: the key \"a\\nb\" is not known"));
  }
}

TEST_CASE("what an earlier run added is no obstacle") {
  CHECK(message_of(with(R"("expected": {"anything": [1]}, "attest": {"version": "attest-v1"})")) == "no error");
  // Exact inputs that round to the numbers above replace them.
  const case_file file =
      read_case(R"({"Q": [[0.3333333333333333]], "K": [[1]], "V": [[1]], "attest": {"inputs": {"Q": [["1/3"]]}}})", "c");
  CHECK(element(std::get<head_inputs>(file.problem.inputs).q, 0, 0) == exact_ratio(unbounded_integer(1), unbounded_integer(3)));
}
