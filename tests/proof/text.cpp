#include <attest/proof/text.hpp>

#include "catch.hpp"

#include <type_traits>

// A text as a template argument: its identity is its characters. (g++ has taken two class-type arguments for
// one when an element was left to its default, so every character position is tried.)

using attest::text;

namespace {

template <text T>
struct named {
  static constexpr std::string_view view = T.view();
};

template <text T>
std::string_view of_argument() {
  return T.view();
}

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

// One character differs, at each position.
static_assert(!same<named<"abcd">, named<"Xbcd">>);
static_assert(!same<named<"abcd">, named<"aXcd">>);
static_assert(!same<named<"abcd">, named<"abXd">>);
static_assert(!same<named<"abcd">, named<"abcX">>);
static_assert(same<named<"abcd">, named<"abcd">>);
// Lengths differ, also by characters that are zero.
static_assert(!same<named<"abc">, named<"abcd">>);
static_assert(!same<named<"abc">, named<"abc\0">>);
static_assert(!same<named<"">, named<"a">>);
static_assert(!same<named<"a\0\0">, named<"\0a\0">>);
static_assert(!same<named<"\0a\0">, named<"\0\0a">>);
static_assert(!same<named<"\0a\0">, named<"\0\0\0">>);

// From an array that is computed, as the messages of claims are: first every character zero, then some
// written.
constexpr auto computed(std::size_t at, char c) {
  struct characters {
    char value[4]{};
  };
  characters result;
  result.value[at] = c;
  return result;
}
inline constexpr auto first = computed(0, 'x');
inline constexpr auto second = computed(1, 'x');
inline constexpr auto third = computed(2, 'x');
static_assert(!same<named<text<4>::copy(&first.value[0])>, named<text<4>::copy(&second.value[0])>>);
static_assert(!same<named<text<4>::copy(&second.value[0])>, named<text<4>::copy(&third.value[0])>>);
static_assert(same<named<text<4>::copy(&second.value[0])>, named<"\0x\0">>);

static_assert(text("abc").view() == "abc");
static_assert(text("").view().empty());
static_assert(named<"a b, c\n">::view == "a b, c\n");

}  // namespace

TEST_CASE(
    "texts that differ in any character or in length are different template arguments, at run time too") {
  CHECK(of_argument<"abcd">() == "abcd");
  CHECK(of_argument<"Xbcd">() == "Xbcd");
  CHECK(of_argument<"aXcd">() == "aXcd");
  CHECK(of_argument<"abcX">() == "abcX");
  CHECK(of_argument<"">().empty());
  CHECK(of_argument<text<4>::copy(&first.value[0])>() == std::string_view("x\0\0", 3));
  CHECK(of_argument<text<4>::copy(&second.value[0])>() == std::string_view("\0x\0", 3));
  CHECK(of_argument<text<4>::copy(&third.value[0])>() == std::string_view("\0\0x", 3));
}
