#include <attest/io/near_name.hpp>

#include <algorithm>

namespace attest::io {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

namespace {

std::string letters_of(std::string_view name) {
  std::string letters = lower_case(name);
  std::erase_if(letters, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return letters;
}

}  // namespace

bool is_near(std::string_view name, std::string_view known) {
  const std::string a = letters_of(name);
  const std::string b = letters_of(known);
  if (a == b) return true;
  if (b.size() < 4) return false;  // X and Y, Q and K are one letter apart
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const auto rest_is = [&](std::size_t skip_a, std::size_t skip_b) {
    return std::string_view(a).substr(std::min(at + skip_a, a.size())) ==
           std::string_view(b).substr(std::min(at + skip_b, b.size()));
  };
  const bool swapped = at + 1 < a.size() && at + 1 < b.size() && a[at] == b[at + 1] && a[at + 1] == b[at];
  return rest_is(1, 1) || rest_is(1, 0) || rest_is(0, 1) || (swapped && rest_is(2, 2));
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](std::string_view k) { return is_near(name, k); });
  return found == known.end() ? std::string_view() : *found;
}

}  // namespace attest::io
