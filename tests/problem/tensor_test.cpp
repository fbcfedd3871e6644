// Views: extents and strides, element types, what repeats.
#include "catch.hpp"

#include <attest/problem.hpp>
#include <attest/rounding/format.hpp>

#include <cmath>
#include <limits>

using attest::attention_error;
using attest::layout;
using attest::tensor;

namespace {

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const attention_error& e) {
    return e.what();
  }
  return "no error";
}

double value_of(const attest::decoded& d) {
  if (d.kind == attest::number_kind::not_a_number) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = d.kind == attest::number_kind::infinite
                               ? std::numeric_limits<double>::infinity()
                               : std::ldexp(static_cast<double>(d.significand), d.exponent);
  return d.negative ? -magnitude : magnitude;
}

template <class Bits>
void check_all_patterns(const attest::format& f) {
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const Bits bits{static_cast<std::uint16_t>(pattern)};
    const double value = attest::any_tensor(tensor<const Bits>(&bits, {1, 1}))(0, 0, 0, 0);
    const double right = value_of(attest::decode(pattern, f));
    const bool same =
        std::isnan(right) ? std::isnan(value) : value == right && std::signbit(value) == std::signbit(right);
    if (!same) {
      CAPTURE(pattern, value, right);
      CHECK(same);
    }
  }
}

}  // namespace

TEST_CASE("dense layouts") {
  const layout l{2, 3, 4, 5};
  CHECK(l.offset(0, 0, 0, 0) == 0);
  CHECK(l.offset(1, 2, 3, 4) == 2 * 3 * 4 * 5 - 1);
  CHECK(l.offset(1, 0, 0, 0) == 60);
  CHECK(l.offset(0, 1, 0, 0) == 20);
  CHECK(l.offset(0, 0, 1, 0) == 5);
  CHECK(layout{4, 5}.extents == std::array<std::size_t, 4>{1, 1, 4, 5});
  CHECK(layout{2, 4, 5}.extents == std::array<std::size_t, 4>{2, 1, 4, 5});
  CHECK(layout{2, 4, 5}.offset(1, 0, 3, 4) == 39);
  CHECK(shape_text(layout{2, 3, 4, 5}) == "[2, 3, 4, 5]");
  CHECK(shape_text(layout{2, 4, 5}) == "[2, 4, 5]");
  CHECK(shape_text(layout{4, 5}) == "[4, 5]");
  CHECK(layout{2, 0, 4, 5}.offset(0, 0, 1, 0) == 5);
}

TEST_CASE("layouts that are none") {
  CHECK(message_of([] { layout{3}; }) ==
        "an array has two, three or four axes, [T, d], [B, T, d] or [B, H, T, d], not 1");
  CHECK(message_of([] { layout{1, 1, 1, 1, 1}; }).find("not 5") != std::string::npos);
  CHECK(message_of([] { layout({3, 2}, {1}); }) == "an array of 2 axes cannot have 1 strides");
  const std::size_t huge = std::size_t{1} << 40;
  CHECK(message_of([&] {
          layout{huge, huge, huge, 2};
        }) == "an array of shape [1099511627776, 1099511627776, 1099511627776, 2] does not fit into memory");
}

TEST_CASE("elements through strides") {
  const int numbers[6] = {0, 1, 2, 3, 4, 5};
  const tensor<const int> transposed(numbers, {3, 2}, {1, 3});
  CHECK(transposed(0, 0, 2, 1) == 5);
  CHECK(transposed(0, 0, 1, 0) == 1);
  const tensor<const int> reversed(numbers + 5, {6, 1}, {-1, 1});
  CHECK(reversed(0, 0, 0, 0) == 5);
  CHECK(reversed(0, 0, 5, 0) == 0);
  double memory[4] = {};
  const tensor<double> target(memory, {2, 2, 1});
  target(1, 0, 0, 0) = 7;
  CHECK(memory[2] == 7);
  const tensor<const double> source = target;
  CHECK(source(1, 0, 0, 0) == 7);
}

TEST_CASE("every element type is read as the number it stands for") {
  const double d = 0.1;
  const float f = 0.1f;
  const std::int8_t i8 = -128;
  const std::int16_t i16 = -32768;
  const std::int32_t i32 = 2147483647;
  const std::int64_t i64 = -(std::int64_t{1} << 53);
  const bool yes = true;
  const unsigned char two = 2;
  const auto read = [](const attest::any_tensor& a) { return a(0, 0, 0, 0); };
  CHECK(read(tensor<const double>(&d, {1, 1})) == d);
  CHECK(read(tensor<const float>(&f, {1, 1})) == static_cast<double>(f));
  CHECK(read(tensor<const std::int8_t>(&i8, {1, 1})) == -128);
  CHECK(read(tensor<const std::int16_t>(&i16, {1, 1})) == -32768);
  CHECK(read(tensor<const std::int32_t>(&i32, {1, 1})) == 2147483647);
  CHECK(read(tensor<const std::int64_t>(&i64, {1, 1})) == -0x1p53);
  CHECK(read(tensor<const bool>(&yes, {1, 1})) == 1);
  CHECK(read(tensor<const unsigned char>(&two, {1, 1})) == 1);
  check_all_patterns<attest::float16_t>(attest::formats::binary16);
  check_all_patterns<attest::bfloat16_t>(attest::formats::bfloat16);
}

TEST_CASE("axes of extent 1 repeat") {
  const double numbers[3] = {1, 2, 3};
  const auto wide = broadcast(tensor<const double>(numbers, {1, 3}), {2, 4, 5, 3}, "mask");
  CHECK(wide(1, 3, 4, 2) == 3);
  const auto tall = broadcast(tensor<const double>(numbers, {3, 1, 1, 1}), {3, 4, 5, 6}, "mask");
  CHECK(tall(2, 3, 4, 5) == 3);
  CHECK(message_of([&] {
          broadcast(tensor<const double>(numbers, {3, 1}), {2, 4, 5, 3}, "mask");
        }) ==
        "array mask: shape [3, 1] does not fit [B, Hq, Tq, Tk] = [2, 4, 5, 3]: every extent has to be equal "
        "or 1");
  CHECK(message_of([&] {
          broadcast(tensor<const double>(numbers, {3, 1, 1}), {3, 3, 1, 1}, "bias");
        }) ==
        "array bias: shape [3, 1, 1] does not say whether its first axis is the batch or the head: give it "
        "four axes, "
        "[B, 1, Tq, Tk] or [1, H, Tq, Tk]");
  CHECK(broadcast(tensor<const double>(numbers, {3, 1, 1}), {3, 1, 1, 1}, "bias")(2, 0, 0, 0) == 3);
}
