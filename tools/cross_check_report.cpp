#include "cross_check_report.hpp"

#include "commands.hpp"

#include <algorithm>
#include <iostream>
#include <string>

namespace attest::tools {

namespace {

std::string counted(std::size_t count, const char* one) {
  return std::to_string(count) + ' ' + one + (count == 1 ? "" : "s");
}

}  // namespace

int report_cross_check(std::span<const problem> problems, std::span<const attention_reference> answers) {
  const std::string prefix = "cross-check: ";
  cross_check_report all;
  std::string disagreements;
  for (std::size_t b = 0; b < problems.size(); ++b) {
    const cross_check_report one = cross_check(problems[b], answers[b]);
    all.agreeing = b == 0 ? one.agreeing : std::min(all.agreeing, one.agreeing);
    all.digits = one.digits;
    all.compared += one.compared;
    all.beyond += one.beyond;
    all.disagreements.insert(all.disagreements.end(), one.disagreements.begin(), one.disagreements.end());
    for (const auto& x : one.disagreements)
      disagreements += prefix + (problems.size() > 1 ? "example " + std::to_string(b) + ": " : "") + x.place +
                       ": certified " + x.reference + ", cpp_bin_float " + x.in_floats + ": they agree in " +
                       counted(x.digits, "digit") + '\n';
  }
  std::string text = prefix + counted(all.compared, "value");
  if (all.disagreements.empty())
    text += " agree with Boost's cpp_bin_float to " + std::to_string(all.agreeing) + " of " +
            counted(all.digits, "digit");
  else
    text += " compared with Boost's cpp_bin_float, " + std::to_string(all.disagreements.size()) + " DISAGREE";
  if (all.beyond > 0)
    text += "; " + std::to_string(all.beyond) + " too close to zero for it were not compared";
  std::cerr << text + '\n' + disagreements;
  return all.disagreements.empty() ? done : check_failed;
}

}  // namespace attest::tools
