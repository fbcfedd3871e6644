#pragma once

#include "measure.hpp"

namespace bench {

struct settings {
  bool quick = false;
  std::string root;                    // of the source, for what compiling costs
  std::vector<std::string> compilers;  // likewise
  std::string python;                  // with NumPy; empty: none was found
  std::string library;                 // libattest, for Python
};

/// A part of the benchmark that can be measured by itself.
struct group {
  std::string name;
  std::function<json()> measure;
};

/// All of them, in the order in which they are measured.
std::vector<group> groups(const settings& s);

}  // namespace bench
