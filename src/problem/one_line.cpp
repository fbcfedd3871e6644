#include <attest/problem/one_line.hpp>

namespace attest {

std::string one_line(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      line += "\\x";
      line += digits[code >> 4];
      line += digits[code & 15];
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace attest
