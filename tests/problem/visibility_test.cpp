// Which keys a query sees: by hand, and over all small shapes against the definition, key by key.
#include "catch.hpp"

#include <attest/problem.hpp>

#include <limits>
#include <string>

using attest::causal_corner;

namespace {

using options = attest::attention_options;

attest::attention_shape head(std::size_t queries, std::size_t keys) { return {1, 1, 1, queries, keys, 1, 1}; }

std::string picture(const attest::attention_shape& s, const options& o, std::size_t b = 0,
                    std::size_t h = 0) {
  const attest::visibility visible(s, o);
  std::string text;
  for (std::size_t i = 0; i < s.queries; ++i) {
    if (i > 0) text += ' ';
    for (std::size_t j = 0; j < s.keys; ++j) text += visible(b, h, i, j) ? 'o' : '.';
  }
  return text;
}

}  // namespace

TEST_CASE("causal at both corners") {
  options o;
  o.causal = true;
  CHECK(picture(head(3, 3), o) == "o.. oo. ooo");
  o.corner = causal_corner::top_left;
  CHECK(picture(head(2, 4), o) == "o... oo..");
  CHECK(picture(head(4, 2), o) == "o. oo oo oo");
  o.corner = causal_corner::bottom_right;
  CHECK(picture(head(2, 4), o) == "ooo. oooo");
  CHECK(picture(head(4, 2), o) == ".. .. o. oo");
  o.corner.reset();
  o.past_keys = 1;
  CHECK(picture(head(2, 4), o) == "oo.. ooo.");
}

TEST_CASE("windows are inclusive") {
  options o;
  o.window = attest::key_window{1, 0};
  CHECK(picture(head(3, 3), o) == "o.. oo. .oo");
  o.window = attest::key_window{0, 1};
  CHECK(picture(head(3, 3), o) == "oo. .oo ..o");
  o.window =
      attest::key_window{std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max()};
  CHECK(picture(head(3, 3), o) == "ooo ooo ooo");
  o.window = attest::key_window{};
  CHECK(picture(head(3, 3), o) == "ooo ooo ooo");
}

TEST_CASE("masks, biases and key lengths") {
  const attest::attention_shape s{2, 2, 1, 1, 3, 1, 1};
  const unsigned char mask[12] = {1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0};
  options o;
  o.mask = attest::tensor<const unsigned char>(mask, {2, 2, 1, 3});
  CHECK(picture(s, o, 0, 0) == "o.o");
  CHECK(picture(s, o, 0, 1) == ".oo");
  CHECK(picture(s, o, 1, 0) == "oo.");
  CHECK(picture(s, o, 1, 1) == "...");
  const attest::visibility visible(s, o);
  CHECK(visible.any(1, 0, 0));
  CHECK(!visible.any(1, 1, 0));
  o.key_lengths = {1, 2};
  CHECK(picture(s, o, 0, 0) == "o..");
  CHECK(picture(s, o, 1, 0) == "oo.");
  const double low = -std::numeric_limits<double>::infinity();
  const double bias[3] = {low, -1e308, 0};
  options b;
  b.bias = attest::tensor<const double>(bias, {1, 3});
  CHECK(picture(s, b, 1, 1) == ".oo");
}

TEST_CASE("all small shapes, corners, windows and lengths against the definition") {
  const std::optional<std::size_t> sides[] = {{}, 0, 1, 2, 7};
  for (std::size_t queries = 1; queries <= 4; ++queries)
    for (std::size_t keys = 0; keys <= 5; ++keys)
      for (std::size_t length = 0; length <= keys; ++length)
        for (int place = 0; place < 4; ++place)
          for (const bool causal : {false, true})
            for (const auto& left : sides)
              for (const auto& right : sides) {
                options o;
                o.causal = causal;
                o.window = attest::key_window{left, right};
                o.key_lengths = {length};
                long first = 0;
                if (place == 1) o.corner = causal_corner::top_left;
                if (place == 2) {
                  o.corner = causal_corner::bottom_right;
                  first = static_cast<long>(length) - static_cast<long>(queries);
                }
                if (place == 3) {
                  o.past_keys = 2;
                  first = 2;
                }
                std::string expected;
                for (std::size_t i = 0; i < queries; ++i) {
                  if (i > 0) expected += ' ';
                  const long own = first + static_cast<long>(i);
                  for (long j = 0; j < static_cast<long>(keys); ++j) {
                    bool sees = j < static_cast<long>(length);
                    if (causal) sees = sees && j <= own;
                    if (left) sees = sees && j + static_cast<long>(*left) >= own;
                    if (right) sees = sees && j <= own + static_cast<long>(*right);
                    expected += sees ? 'o' : '.';
                  }
                }
                const std::string seen = picture(head(queries, keys), o);
                if (seen != expected) {
                  CAPTURE(queries, keys, length, place, causal);
                  CHECK(seen == expected);
                }
              }
}
