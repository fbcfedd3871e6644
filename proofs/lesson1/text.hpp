#pragma once

#include <attest/proof.hpp>

#include <string_view>

// The lesson's text and its tokens: one for each character that occurs, numbered in the order of the characters.
namespace lesson1 {

using namespace attest;

// The lesson repeats this 20 times, which adds no character.
inline constexpr std::string_view corpus =
    "the lamp keeper walks the shore at dusk. "
    "the lamp keeper lights the lantern when the fog rolls in. "
    "the boats come home when the lantern glows. "
    "the boats wait outside the bay when the fog is thick. "
    "a small boat drifts near the rocks at dawn. "
    "the keeper rings the bell when a boat drifts near the rocks. "
    "the tide rises at dusk and falls at dawn. "
    "the gulls call over the bay when the tide is low. "
    "the keeper counts the boats and writes the count in a book. "
    "the lantern burns all night and rests at dawn. ";

/// Which characters occur in the corpus, and how many.
struct vocabulary {
  bool occurs[128]{};
  std::size_t size = 0;

  constexpr explicit vocabulary(std::string_view text) {
    for (const char c : text) occurs[static_cast<unsigned char>(c)] = true;
    for (const bool one : occurs) size += one ? 1 : 0;
  }

  /// The token of c: how many of the characters come before it. One that does not occur is error::index_out_of_range().
  constexpr std::size_t token(char c) const {
    if (!occurs[static_cast<unsigned char>(c)]) error::index_out_of_range();
    std::size_t before = 0;
    for (std::size_t other = 0; other < static_cast<unsigned char>(c); ++other) before += occurs[other] ? 1 : 0;
    return before;
  }
};

inline constexpr vocabulary characters(corpus);

inline constexpr std::string_view slice = "the lamp";

}  // namespace lesson1
