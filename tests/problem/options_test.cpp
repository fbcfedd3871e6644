// What does not fit, with the whole sentence: array, shapes, remedy.
#include "catch.hpp"

#include <attest/problem.hpp>

#include <functional>
#include <limits>

using attest::attention_error;
using attest::attention_options;
using attest::causal_corner;
using attest::fault;
using attest::layout;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
double memory[4096];
unsigned char flags[4096];

struct arrays {
  layout q{2, 4, 3, 8};
  layout k{2, 2, 5, 8};
  layout v{2, 2, 5, 6};
};

attest::attention_shape shape_of(const arrays& a, const attention_options& o) {
  const auto view = [](const layout& l) { return attest::any_tensor(memory, attest::dtype::binary64, l); };
  return checked_shape(view(a.q), view(a.k), view(a.v), o);
}

void check_refused(const arrays& a, const attention_options& o, fault kind, const std::string& message) {
  try {
    shape_of(a, o);
    FAIL("not refused: " + message);
  } catch (const attention_error& e) {
    CHECK(e.what() == message);
    CHECK(e.fault() == kind);
  }
}

attention_options with(const std::function<void(attention_options&)>& set) {
  attention_options o;
  set(o);
  return o;
}

}  // namespace

TEST_CASE("the shape of a call") {
  const auto s = shape_of({}, {});
  CHECK(s.batch == 2);
  CHECK(s.query_heads == 4);
  CHECK(s.key_value_heads == 2);
  CHECK(s.queries == 3);
  CHECK(s.keys == 5);
  CHECK(s.key_width == 8);
  CHECK(s.value_width == 6);
  CHECK(s.key_value_head(0) == 0);
  CHECK(s.key_value_head(1) == 0);
  CHECK(s.key_value_head(2) == 1);
  CHECK(s.key_value_head(3) == 1);
}

TEST_CASE("arrays that do not fit") {
  check_refused({layout{2, 4, 3, 8}, layout{1, 2, 5, 8}, layout{1, 2, 5, 6}}, {}, fault::shape,
                "array K: shape [1, 2, 5, 8] does not fit Q of shape [2, 4, 3, 8]: both need the same batch");
  check_refused(
      {layout{2, 4, 3, 8}, layout{2, 2, 5, 7}, layout{2, 2, 5, 6}}, {}, fault::shape,
      "array K: shape [2, 2, 5, 7] does not fit Q of shape [2, 4, 3, 8]: both need the same width d_k");
  check_refused({layout{2, 4, 3, 8}, layout{2, 3, 5, 8}, layout{2, 3, 5, 6}}, {}, fault::shape,
                "array K: shape [2, 3, 5, 8] does not fit Q of shape [2, 4, 3, 8]: the 4 query heads have to "
                "be a multiple of "
                "the 3 key/value heads");
  check_refused({layout{2, 4, 3, 8}, layout{2, 2, 5, 8}, layout{1, 2, 5, 6}}, {}, fault::shape,
                "array V: shape [1, 2, 5, 6] does not fit K of shape [2, 2, 5, 8]: both need the same batch");
  check_refused(
      {layout{2, 4, 3, 8}, layout{2, 2, 5, 8}, layout{2, 1, 5, 6}}, {}, fault::shape,
      "array V: shape [2, 1, 5, 6] does not fit K of shape [2, 2, 5, 8]: both need the same number of heads");
  check_refused({layout{2, 4, 3, 8}, layout{2, 2, 5, 8}, layout{2, 2, 4, 6}}, {}, fault::shape,
                "array V: shape [2, 2, 4, 6] does not fit K of shape [2, 2, 5, 8]: both need the same number "
                "of positions Tk");
  check_refused({layout{3, 8}, layout{2, 5, 8}, layout{2, 5, 6}}, {}, fault::shape,
                "array K: shape [2, 5, 8] does not fit Q of shape [3, 8]: both need the same batch");
  check_refused(
      {layout{2, 4, 3, 0}, layout{2, 2, 5, 0}, layout{2, 2, 5, 6}}, {}, fault::shape,
      "array Q: shape [2, 4, 3, 0] has an extent of zero: batch, heads and width have to be at least 1");
  check_refused(
      {layout{2, 4, 3, 8}, layout{2, 0, 5, 8}, layout{2, 0, 5, 6}}, {}, fault::shape,
      "array K: shape [2, 0, 5, 8] has an extent of zero: batch, heads and width have to be at least 1");
  try {
    const attest::any_tensor good(memory, attest::dtype::binary64, layout{3, 8});
    checked_shape(good, attest::any_tensor(nullptr, attest::dtype::binary64, layout{3, 8}), good, {});
    FAIL("not refused");
  } catch (const attention_error& e) {
    CHECK(std::string(e.what()) ==
          "array K: shape [3, 8] has elements and the array no memory: give a pointer");
  }
}

TEST_CASE("Q, K and V are numbers") {
  const attest::any_tensor numbers(memory, attest::dtype::uint8, layout{3, 8});
  const attest::tensor<const unsigned char> bytes(flags, {3, 8});  // truth values, as a mask has them
  CHECK(checked_shape(numbers, numbers, numbers, {}).keys == 3);
  for (const int which : {0, 1, 2}) {
    CAPTURE(which);
    try {
      checked_shape(which == 0 ? bytes : numbers, which == 1 ? bytes : numbers, which == 2 ? bytes : numbers,
                    {});
      FAIL("not refused");
    } catch (const attention_error& e) {
      CHECK(std::string(e.what()) ==
            std::string("array ") + "QKV"[which] +
                ": its elements are boolean: Q, K and V hold numbers; bytes that are numbers have the type "
                "uint8");
      CHECK(e.fault() == fault::option);
    }
  }
}

TEST_CASE("numbers out of their domain") {
  check_refused({}, with([](auto& o) { o.scale = infinity; }), fault::option,
                "scale is infinity: it has to be a finite number");
  check_refused({}, with([](auto& o) { o.scale = not_a_number; }), fault::option,
                "scale is NaN: it has to be a finite number");
  for (const auto& [cap, text] :
       {std::pair{0.0, "0"}, {-1.5, "-1.5"}, {not_a_number, "NaN"}, {infinity, "infinity"}})
    check_refused({}, with([c = cap](auto& o) { o.softcap = c; }), fault::option,
                  std::string("softcap is ") + text +
                      ": it has to be a positive number; leave it out for scores without a cap");
  check_refused({}, with([](auto& o) {
                  o.sinks = {1, 2, 3};
                }),
                fault::shape, "array sinks: 3 of them do not fit 4 query heads: give one for each");
  check_refused({}, with([](auto& o) {
                  o.sinks = {1, 2, not_a_number, 4};
                }),
                fault::option, "array sinks: element 2 is NaN: it has to be a finite number");
  check_refused({}, with([](auto& o) {
                  o.alibi_slopes = {1, 2};
                }),
                fault::shape, "array alibi_slopes: 2 of them do not fit 4 query heads: give one for each");
  check_refused({}, with([](auto& o) {
                  o.alibi_slopes = {1, -infinity, 3, 4};
                }),
                fault::option, "array alibi_slopes: element 1 is -infinity: it has to be a finite number");
  check_refused(
      {}, with([](auto& o) { o.key_lengths = {1}; }), fault::shape,
      "array key_lengths: 1 of them do not fit a batch of 2: give one for each element of the batch");
  check_refused({}, with([](auto& o) {
                  o.key_lengths = {5, 6};
                }),
                fault::option,
                "array key_lengths: element 1 is 6, and K of shape [2, 2, 5, 8] holds 5 keys: a length is at "
                "most that");
}

TEST_CASE("masks and biases of the wrong type or shape") {
  check_refused({}, with([](auto& o) {
                  o.mask = attest::any_tensor(flags, attest::dtype::boolean, layout{3, 4});
                }),
                fault::shape,
                "array mask: shape [3, 4] does not fit [B, Hq, Tq, Tk] = [2, 4, 3, 5]: every extent has to "
                "be equal or 1");
  check_refused({}, with([](auto& o) {
                  o.mask = attest::any_tensor(memory, attest::dtype::binary64, layout{3, 5});
                }),
                fault::option,
                "array mask: its elements are binary64: a mask is boolean (true: the query sees the key); "
                "give numbers to add to "
                "the scores as bias");
  check_refused({}, with([](auto& o) {
                  o.bias = attest::any_tensor(flags, attest::dtype::boolean, layout{3, 5});
                }),
                fault::option,
                "array bias: its elements are boolean: a bias holds floats; give a boolean array as mask");
  check_refused({}, with([](auto& o) {
                  o.bias = attest::any_tensor(memory, attest::dtype::int32, layout{3, 5});
                }),
                fault::option,
                "array bias: its elements are int32: a bias holds floats; give a boolean array as mask");
  check_refused({}, with([](auto& o) {
                  o.bias = attest::any_tensor(memory, attest::dtype::binary64, layout{2, 2, 3, 5});
                }),
                fault::shape,
                "array bias: shape [2, 2, 3, 5] does not fit [B, Hq, Tq, Tk] = [2, 4, 3, 5]: every extent "
                "has to be equal or 1");
  check_refused({}, with([](auto& o) {
                  o.bias = attest::any_tensor(nullptr, attest::dtype::binary64, layout{3, 5});
                }),
                fault::shape,
                "array bias: shape [2, 4, 3, 5] has elements and the array no memory: give a pointer");
}

TEST_CASE("where the queries stand has to be said when Tq != Tk") {
  const std::string rest =
      " with Tq = 3 queries and Tk = 5 keys needs to know where the queries stand: set corner to top_left or "
      "bottom_right, or "
      "past_keys";
  check_refused({}, with([](auto& o) { o.causal = true; }), fault::option, "causal" + rest);
  check_refused({}, with([](auto& o) {
                  o.window = attest::key_window{1, 1};
                }),
                fault::option, "window" + rest);
  check_refused({}, with([](auto& o) { o.alibi_slopes = {1, 1, 1, 1}; }), fault::option, "ALiBi" + rest);
  for (const auto& said : {with([](auto& o) { o.corner = causal_corner::top_left; }),
                           with([](auto& o) { o.corner = causal_corner::bottom_right; }),
                           with([](auto& o) { o.past_keys = 0; }), with([](auto& o) { o.past_keys = 2; })}) {
    auto o = said;
    o.causal = true;
    CHECK_NOTHROW(shape_of({}, o));
  }
  const arrays square{layout{2, 4, 5, 8}, layout{2, 2, 5, 8}, layout{2, 2, 5, 6}};
  CHECK_NOTHROW(shape_of(square, with([](auto& o) { o.causal = true; })));
  check_refused(square, with([](auto& o) {
                  o.causal = true;
                  o.key_lengths = {5, 4};
                }),
                fault::option,
                "causal with Tq = 5 queries and Tk = 4 keys needs to know where the queries stand: set "
                "corner to top_left or "
                "bottom_right, or past_keys");
}

TEST_CASE("past keys and corners that contradict each other, and past keys that K does not hold") {
  check_refused({}, with([](auto& o) {
                  o.past_keys = 1;
                  o.corner = causal_corner::bottom_right;
                }),
                fault::option,
                "past_keys = 1 contradicts the corner bottom_right, which puts the last query at the last "
                "key (Tq = 3, Tk = 5): "
                "say one of them");
  check_refused({}, with([](auto& o) {
                  o.past_keys = 2;
                  o.corner = causal_corner::top_left;
                }),
                fault::option,
                "past_keys = 2 contradicts the corner top_left, which puts query 0 at key 0 (Tq = 3, Tk = "
                "5): say one of them");
  CHECK_NOTHROW(shape_of({}, with([](auto& o) {
                           o.past_keys = 2;
                           o.corner = causal_corner::bottom_right;
                         })));
  CHECK_NOTHROW(shape_of({}, with([](auto& o) {
                           o.past_keys = 0;
                           o.corner = causal_corner::top_left;
                         })));
  for (const std::size_t past : {std::size_t{3}, std::numeric_limits<std::size_t>::max()})
    check_refused({}, with([past](auto& o) { o.past_keys = past; }), fault::option,
                  "past_keys = " + std::to_string(past) +
                      " and Tq = 3 queries do not fit Tk = 5 keys: Tk counts the past keys, so K and V have "
                      "to hold them too");
}

TEST_CASE("a kernel's refusal names the kernel and the option") {
  const auto s = shape_of({}, {});
  try {
    supports_only("fast", {attest::option::grouped_heads}, s, with([](auto& o) { o.sinks = {1, 2, 3, 4}; }));
    FAIL("not refused");
  } catch (const attention_error& e) {
    CHECK(e.fault() == fault::unsupported);
    CHECK(std::string(e.what()) ==
          "the kernel `fast` does not take sinks: leave it out or use another kernel (`stable` takes every "
          "option)");
  }
  CHECK_THROWS_AS(supports_only("fast", {attest::option::sinks}, s, {}), attention_error);
  CHECK_NOTHROW(
      supports_only("fast", {attest::option::sinks, attest::option::grouped_heads}, s, with([](auto& o) {
                      o.sinks = {1, 2, 3, 4};
                    })));
}
