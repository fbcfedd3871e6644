#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace attest {

/// A text as a template argument: what a claim says is printed, and what a refused claim shows.
///
/// Every character is written by one complete brace list. g++ takes two class-type arguments for one when an element of
/// either was left to its default, so this is the only class-type template argument that the library has, no verdict
/// depends on the text that a message shows, and the canaries compare texts that differ in any one character.
template <std::size_t Size>
struct text {
  char characters[Size];  // ends in '\0', by which compilers know a text and quote it

  constexpr text(const char (&literal)[Size]) : text(literal, std::make_index_sequence<Size>{}) {}

  /// The Size - 1 characters from `begin`; a '\0' follows them.
  static constexpr text copy(const char* begin) { return text(begin, std::make_index_sequence<Size>{}); }

  constexpr std::string_view view() const { return {characters, Size - 1}; }

 private:
  template <std::size_t... I>
  constexpr text(const char* source, std::index_sequence<I...>) : characters{source[I]...} {}
};

}  // namespace attest
