#pragma once

#include "measure.hpp"

#include <string>

namespace bench {

/// What the results say, for people: tables of every group, then the marks, each with its gate, its goal and what was measured,
/// then whether the machine was too noisy to conclude.
std::string report(const json& results);

/// The figures that the README shows, in Markdown.
std::string markdown(const json& results);

/// Accuracy against time, time against T: name of the file and SVG text. A plot without data is left out.
std::vector<std::pair<std::string, std::string>> plots(const json& results);

}  // namespace bench
