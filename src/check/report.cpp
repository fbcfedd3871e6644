#include <attest/check/report.hpp>

#include <attest/problem/one_line.hpp>
#include <attest/reference/number_text.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace attest {

namespace {

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return shortest_text(value);
}

// The difference of two finite elements, exactly.
std::string exact_error(const array_report& array, std::size_t at) {
  return exact_text(absolute_difference(array.reference, array.candidate, at));
}

// Four significant digits.
std::string four_digits(double value) {
  if (!std::isfinite(value)) return number(value);
  char buffer[64];
  return std::string(buffer,
                     std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 4).ptr);
}

std::string shown_exactly(const array_report& array, const largest<double>& error) {
  const std::string exact = exact_error(array, error.at);
  constexpr std::size_t longest = 40;
  return exact.size() <= longest ? " (" + exact + ')' : "";
}

std::string summary(const comparison& c) {
  if (c.same_shape() && c.elements == 0) return "it has no elements";
  if (!c.same_shape()) return "the candidate's shape is " + shape_text(c.candidate_shape);
  if (c.elements == 1) return c.different.count == 0 ? "its element is equal" : "its element differs";
  const std::string all = std::to_string(c.elements) + " elements ";
  if (c.different.count == 0) return "all " + all + "are equal";
  return std::to_string(c.different.count) + " of " + all +
         (c.different.count == 1 ? "differs, at " : "differ, the first at ") +
         index_text(c.shape, c.different.first);
}

// The format in whose units of the weighted |V| an array is measured.
const format& weighted_format(const array_comparison& m) {
  const format* const of = m.allowed.weighted_v ? m.allowed.weighted_v->of : nullptr;
  return of != nullptr ? *of : *m.measure;
}

class array_writer {
 public:
  array_writer(const array_report& array, bool all) : array_(array), c_(array.result), all_(all) {}

  std::string write() {
    heading();
    if (!c_.same_shape()) return std::move(text_);
    errors();
    counts();
    elements();
    power();
    return std::move(text_);
  }

 private:
  void line(const std::string& content) { text_ += content + '\n'; }
  std::string at(std::size_t element) const { return " at " + index_text(c_.shape, element); }

  void heading() {
    const std::string measure = array_.measured ? std::string(" in ") + array_.measured->measure->name : "";
    line(one_line(array_.name) + (array_.name.empty() ? "" : " ") + shape_text(c_.shape) + measure +
         ": " + name_of(c_.outcome) + ", " + summary(c_));
    if (array_.layout)
      line("  note: the candidate's elements fit in the order " + *array_.layout + ": transpose them to " +
           (c_.shape.size() == 4 ? "[B, H, T, d]" : "[B, T, d]"));
    if (!array_.measured) return;
    const array_comparison& m = *array_.measured;
    if (!m.conventions.empty()) {
      std::string all;
      for (const std::string& text : m.conventions) all += (all.empty() ? "" : "; or ") + text;
      line("  fits if: " + all);
    }
    for (const std::string& note : m.notes) line("  note: " + note);
    if (!m.where.empty()) line("  " + m.where);
  }

  void errors() {
    if (c_.absolute_error &&
        (c_.absolute_error->value != 0 || exact_error(array_, c_.absolute_error->at) != "0"))
      line("  absolute error  " + number(c_.absolute_error->value) +
           shown_exactly(array_, *c_.absolute_error) + at(c_.absolute_error->at));
    if (c_.ulp_distance && c_.ulp_distance->value != 0)
      line("  ulp distance    " + std::to_string(c_.ulp_distance->value) + at(c_.ulp_distance->at));
    if (c_.ulp_error && c_.ulp_error->value != 0)
      line("  ulp error       " + four_digits(c_.ulp_error->value) + at(c_.ulp_error->at) +
           (c_.against_exact  ? ""
            : array_.measured ? ", against the reference's elements"
                              : ", against the reference's doubles"));
    if (array_.measured && array_.measured->weighted_error && array_.measured->weighted_error->value != 0) {
      const array_comparison& m = *array_.measured;
      line("  of weighted |V| " + four_digits(m.weighted_error->value) + at(m.weighted_error->at) +
           ", in units of 2^-" + std::to_string(weighted_format(m).precision) + " (" +
           weighted_format(m).name + ')');
    }
    if (c_.different.count == 0) return;
    line("  correctly rounded  " + std::to_string(c_.correctly_rounded) + " of " +
         std::to_string(c_.elements) + " (" +
         four_digits(100 * static_cast<double>(c_.correctly_rounded) / static_cast<double>(c_.elements)) +
         " %)");
    std::string quantiles;
    for (std::size_t k = 0; k < quantile_levels.size(); ++k)
      quantiles += (k == 0 ? "" : ", ") + four_digits(100 * quantile_levels[k]) + " % " +
                   four_digits(c_.ulp_error_quantiles[k]);
    if (c_.ulp_error) line("  ulp errors up to   " + quantiles);
  }

  void counts() {
    const auto count = [&](const std::string& what, const occurrences& o) {
      if (o.count == 0) return;
      line("  " + what + ": " + std::to_string(o.count) + (o.count == 1 ? ", at " : ", the first at ") +
           index_text(c_.shape, o.first));
    };
    count("NaN in one of the two alone", c_.nan_mismatches);
    count("infinite in one of the two alone", c_.infinity_mismatches);
    count("zero of another sign, which is no difference", c_.zero_signs);
    if (array_.said.absolute) count("past " + *array_.said.absolute, c_.past_absolute);
    if (array_.said.ulp) count("past " + *array_.said.ulp, c_.past_ulp);
    if (array_.said.weighted_v) count("past " + *array_.said.weighted_v, array_.measured->past_weighted);
  }

  // Both values, and the exact one, wherever a line above points.
  void elements() {
    std::vector<std::size_t> places;
    const auto show = [&](std::size_t element) {
      if (std::find(places.begin(), places.end(), element) == places.end()) places.push_back(element);
    };
    if (c_.different.count == 0) return;
    if (array_.measured && c_.passed() && !all_) return;
    for (const occurrences& o : {c_.nan_mismatches, c_.infinity_mismatches, c_.past_absolute, c_.past_ulp})
      if (o.count > 0) show(o.first);
    if (array_.measured && array_.measured->past_weighted.count > 0)
      show(array_.measured->past_weighted.first);
    if (c_.absolute_error && c_.absolute_error->value != 0) show(c_.absolute_error->at);
    // Where values cancel, what is far off in ulps need be no fault.
    const bool in_ulps = !array_.said.weighted_v || array_.said.ulp;
    if (in_ulps && c_.ulp_distance && c_.ulp_distance->value != 0) show(c_.ulp_distance->at);
    if (array_.measured && array_.measured->weighted_error) show(array_.measured->weighted_error->at);
    if (places.empty()) show(c_.different.first);
    constexpr std::size_t worst_shown = 3;
    if (array_.measured)
      for (std::size_t k = 0; k < array_.measured->worst.size() && k < worst_shown; ++k)
        show(array_.measured->worst[k]);
    for (const std::size_t element : places) {
      const std::string index = " " + at(element) + "  ";
      const std::string indent(index.size(), ' ');
      line(index + "candidate  " + element_text(array_.candidate, element));
      line(indent + "reference  " + element_text(array_.reference, element));
      if (array_.measured)
        if (const auto known = array_.measured->enclosures.find(element);
            known != array_.measured->enclosures.end()) {
          line(indent + "exact      " + known->second.first);
          if (known->second.second != known->second.first)
            line(indent + "        to " + known->second.second);
        }
      if (array_.measured)
        if (const auto known = array_.measured->weighted_v.find(element);
            known != array_.measured->weighted_v.end())
          line(indent + "weighted |V|  " + four_digits(known->second));
      if (!array_.certified) continue;
      if (const auto exact = array_.certified->exact_decimal(element)) line(indent + "exact      " + *exact);
    }
  }

  void power() {
    tolerance_texts without_ulp = array_.said;
    without_ulp.ulp.reset();
    if (c_.blind == blind_spot::zeros)
      line("  note: " + without_ulp.all() + " has no power here: an array of zeros would pass");
    if (c_.blind == blind_spot::constant)
      line("  note: " + without_ulp.all() + " has no power here: an array of one constant would pass");
    if (array_.measured && array_.measured->cannot_hold.count > 0)
      line("  note: " + without_ulp.all() +
           " cannot hold: " + std::to_string(array_.measured->cannot_hold.count) +
           " of the exact numbers, rounded to " + array_.measured->measure->name +
           ", are past it, the first at " + index_text(c_.shape, array_.measured->cannot_hold.first));
  }

  const array_report& array_;
  const comparison& c_;
  bool all_;
  std::string text_;
};

// "0.001", or where that is no double, what io::read_exact() reads.
std::string text_of(const exact_scalar& x) {
  const double nearest = nearest_binary64(x);
  return std::isfinite(nearest) && exact_scalar(exact_value<unbounded_integer>(nearest)) == x
             ? number(nearest)
             : exact_text(x);
}

}  // namespace

std::string tolerance_texts::all() const {
  std::string text;
  for (const auto* const one : {&absolute, &ulp, &weighted_v})
    if (*one) text += (text.empty() ? "" : " and ") + **one;
  return text;
}

array_report report_of(array_comparison c) {
  array_report r{c.name, {}, {}, {}, c, {}, c.layout, {}};
  if (c.allowed.absolute) r.said.absolute = "absolute " + text_of(*c.allowed.absolute);
  if (c.allowed.ulp) r.said.ulp = "ulp " + std::to_string(*c.allowed.ulp);
  if (c.allowed.weighted_v) {
    const format& of = weighted_format(c);
    const exact_scalar& units = c.allowed.weighted_v->units;
    r.said.weighted_v = "weighted_v " + (is_integer(units) ? exact_text(units) : text_of(units)) +
                        (&of == c.measure ? "" : std::string(" of ") + of.name);
  }
  r.reference = {c.shape, std::move(c.reference), {}};
  r.candidate = {c.candidate_shape, std::move(c.candidate), {}};
  r.measured = std::move(c);
  return r;
}

std::string element_text(const exact_array& array, std::size_t at) {
  const auto beyond = array.beyond.find(at);
  return beyond == array.beyond.end() ? number(array.values[at]) : exact_text(beyond->second);
}

std::string describe(const array_report& array, bool elements) {
  return array_writer(array, elements).write();
}

std::string describe(const array_comparison& c) {
  std::string text = describe(report_of(c), false);
  text.pop_back();
  return text;
}

}  // namespace attest
