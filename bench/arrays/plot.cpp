#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <tuple>

namespace bench {

namespace {

constexpr double width = 900, height = 500, left = 80, right = 290, top = 44, bottom = 56;

// Okabe and Ito's colours, which the colour-blind can tell apart, without the yellow.
const char* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f"};
const char* const dashes[] = {"", "7 4", "2 3"};

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

struct axis {
  double low, high;    // logarithms
  double from, to;     // pixels
  double at(double x) const { return from + (std::log10(x) - low) / (high - low) * (to - from); }
};

std::string text_at(double x, double y, const char* anchor, const std::string& content, const std::string& further = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\"" + further + ">" +
         escaped(content) + "</text>\n";
}

}  // namespace

std::string svg(const plot& p) {
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  bool lines = false;
  for (const series& s : p.all) {
    lines = lines || s.points.size() > 1;
    for (const auto& [x, y] : s.points) {
      x_low = std::min(x_low, std::log10(x)), x_high = std::max(x_high, std::log10(x));
      y_low = std::min(y_low, std::log10(y)), y_high = std::max(y_high, std::log10(y));
    }
  }
  if (!(x_low <= x_high)) return {};
  const auto widened = [](double low, double high) { return std::pair(low - 0.12, high + 0.12); };
  std::tie(x_low, x_high) = widened(x_low, x_high);
  std::tie(y_low, y_high) = widened(y_low, y_high);
  const axis x{x_low, x_high, left, width - right};
  const axis y{y_low, y_high, height - bottom, top};

  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + short_number(width) + " " +
                    short_number(height) +
                    "\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(left, 24, "start", p.title, " font-size=\"16\"");
  const auto line = [&](double x1, double y1, double x2, double y2, const char* colour) {
    out += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
           "\" stroke=\"" + colour + "\"/>\n";
  };
  const auto marks = [](const axis& a, std::vector<double> wanted) {
    if (wanted.empty())
      for (double e = std::ceil(a.low); e <= a.high; ++e) wanted.push_back(std::pow(10, e));
    std::erase_if(wanted, [&](double mark) { return std::log10(mark) < a.low || std::log10(mark) > a.high; });
    return wanted;
  };
  for (const double mark : marks(x, p.x_marks)) {
    line(x.at(mark), top, x.at(mark), height - bottom, "#dddddd");
    out += text_at(x.at(mark), height - bottom + 18, "middle", short_number(mark));
  }
  for (const double mark : marks(y, {})) {
    line(left, y.at(mark), width - right, y.at(mark), "#dddddd");
    out += text_at(left - 8, y.at(mark) + 4, "end", short_number(mark));
  }
  line(left, height - bottom, width - right, height - bottom, "#444444");
  line(left, top, left, height - bottom, "#444444");
  out += text_at((left + width - right) / 2, height - 14, "middle", p.x_name);
  out += text_at(0, 0, "middle", p.y_name,
                 " transform=\"translate(20 " + number((top + height - bottom) / 2) + ") rotate(-90)\"");

  // Names stand beside the last point of a line or beside the point, moved apart where they would overlap.
  struct label {
    double y, x;
    std::size_t index;
  };
  std::vector<label> labels;
  for (std::size_t i = 0; i < p.all.size(); ++i) {
    const series& s = p.all[i];
    if (s.points.empty()) continue;
    const std::string colour = colours[i % std::size(colours)];
    if (s.points.size() > 1) {
      out += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + colour + "\" stroke-dasharray=\"" +
             dashes[i / std::size(colours) % std::size(dashes)] + "\" points=\"";
      for (const auto& [px, py] : s.points) out += number(x.at(px)) + ',' + number(y.at(py)) + ' ';
      out += "\"/>\n";
    }
    for (const auto& [px, py] : s.points)
      out += "<circle cx=\"" + number(x.at(px)) + "\" cy=\"" + number(y.at(py)) + "\" r=\"" + (lines ? "3" : "5") +
             "\" fill=\"" + colour + "\"/>\n";
    labels.push_back({y.at(s.points.back().second), x.at(s.points.back().first), i});
  }
  std::sort(labels.begin(), labels.end(), [](const label& a, const label& b) { return a.y < b.y; });
  std::vector<double> places;
  for (const label& l : labels) places.push_back(places.empty() ? l.y : std::max(l.y, places.back() + 16));
  double limit = height - 14;
  for (std::size_t i = places.size(); i-- > 0; limit = places[i] - 16) places[i] = std::min(places[i], limit);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const label& l = labels[i];
    const double where = places[i];
    const std::string colour = colours[l.index % std::size(colours)];
    const double name_x = width - right + 26;
    out += "<line x1=\"" + number(l.x + 6) + "\" y1=\"" + number(l.y) + "\" x2=\"" + number(name_x - 4) + "\" y2=\"" +
           number(where) + "\" stroke=\"" + colour + "\" stroke-opacity=\"0.35\"/>\n";
    out += text_at(name_x, where + 4, "start", p.all[l.index].name, " fill=\"" + colour + "\"");
  }
  return out + "</svg>\n";
}

}  // namespace bench
