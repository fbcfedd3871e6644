#pragma once

#include "heads.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// One way to an answer, or to a part of one.
struct method {
  std::string name;
  std::string gives;  // what run() gives, in a few words
  /// Decimal digits of the numbers that it gives, relative to the largest; 0 for exact expressions, which have no digits.
  double digits;
  std::size_t numbers;  // how many numbers it gives

  std::function<void()> run;            // what is timed; keeps its answer
  std::function<std::string()> check;   // what is wrong with the answer kept, or nothing
  std::function<void()> spoil;          // makes the answer kept wrong by as little as check() must see
};

/// All methods on one head, `stable` and `naive` among them. The head must outlive them.
std::vector<method> methods(const head& h);

}  // namespace bench
