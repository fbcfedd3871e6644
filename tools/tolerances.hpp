#pragma once

#include <attest/check/arrays.hpp>
#include <attest/check/report.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

// What --abs, --ulp and --weighted-v say, for all arrays or for one by its name.
namespace attest::tools {

/// The tolerance of an array, how a report calls it, and the numbers as they were given.
struct given_tolerance {
  array_tolerance limits;
  tolerance_texts said;     // "--abs 1e-12"
  tolerance_texts numbers;  // "1e-12"; of the weighted |V| "4" or "4:bfloat16"
};

class tolerances {
 public:
  tolerances() = default;
  /// The texts of the options, each "X" or "NAME=X". What is no tolerance, or there twice, is input_error.
  tolerances(const std::vector<std::string>& absolute, const std::vector<std::string>& ulp,
             const std::vector<std::string>& weighted_v);

  /// An array that some option names keeps to what names it alone; all others to what has no name.
  /// --weighted-v names the output, if nothing else.
  const given_tolerance& of(const std::string& array) const;
  const given_tolerance& unnamed() const { return unnamed_; }
  const std::map<std::string, given_tolerance>& named() const { return named_; }

  /// What follows "3 arrays": " within --ulp 1, lse within --abs 1e-5".
  std::string text() const;

 private:
  given_tolerance unnamed_;
  std::map<std::string, given_tolerance> named_;
};

}  // namespace attest::tools
