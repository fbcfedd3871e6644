#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

/// One line, or with one point a mark with its name beside it. Coordinates are positive: both axes are logarithmic.
struct series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct plot {
  std::string title;
  std::string x_name;
  std::string y_name;
  std::vector<series> all;
  /// Where the x axis has marks; empty: at powers of ten.
  std::vector<double> x_marks = {};
};

/// The plot as an SVG file's text, legible on a white and on a dark page.
std::string svg(const plot& p);

}  // namespace bench
