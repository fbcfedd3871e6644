#include "check_report.hpp"

#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>
#include <attest/io/number.hpp>
#include <attest/problem/one_line.hpp>
#include <attest/reference/number_text.hpp>

#include <algorithm>
#include <cmath>

namespace attest::tools {

namespace {

using io::json::quote;

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return shortest_text(value);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + one_line(name);
  return text;
}

// The difference of two finite elements, exactly.
std::string exact_error(const array_report& array, std::size_t at) {
  return exact_text(absolute_difference(array.reference, array.candidate, at));
}

class text_writer {
 public:
  text_writer(const check_report& report, report_length length) : report_(report), length_(length) {}

  std::string write() {
    if (length_ == report_length::verdict) return conclusion() + '\n';
    line(one_line(report_.candidate) + " against " + one_line(report_.reference) + ", " + values());
    line("");
    for (const array_report& array : report_.arrays) text_ += describe(array, length_ == report_length::all);
    for (const std::string& name : report_.missing)
      line(one_line(name) +
           ": failed, the candidate has no such array (--only NAME checks some arrays alone)");
    if (!report_.extra.empty()) line("not compared, as the reference has none: " + joined(report_.extra));
    for (const std::string& hint : report_.hints) line("note: " + one_line(hint));
    if (!report_.left_out.empty())
      line("not compared, as --only leaves them out: " + joined(report_.left_out));
    line("");
    line(conclusion());
    return text_;
  }

 private:
  void line(const std::string& content) { text_ += content + '\n'; }

  std::string values() const {
    switch (report_.values) {
      case reference_values::from_inputs:
        return "whose exact values are computed from its inputs";
      case reference_values::as_asked:
        return "whose numbers are taken as written";
      case reference_values::no_inputs:
        return "whose numbers are taken as written, for it has no inputs";
      case reference_values::arrays:
        return "whose elements are taken as written, with their low words where it has them";
    }
    return "";
  }

  std::string conclusion() const {
    std::vector<std::string> named;
    const judgement outcome = report_.outcome();
    for (const array_report& array : report_.arrays)
      if (array.result.outcome == judgement::failed ||
          (outcome != judgement::failed && array.result.outcome == judgement::not_judged))
        named.push_back(array.name);
    const std::size_t count = report_.arrays.size();
    const std::string arrays = std::to_string(count) + (count == 1 ? " array" : " arrays");
    switch (outcome) {
      case judgement::passed:
        return "passed: " + arrays + report_.allowed.text();
      case judgement::equal:
        return "equal: " + arrays + "; no tolerance was given, and none was needed";
      case judgement::not_judged:
        return "not judged: no tolerance was given (--abs X, --ulp N), and there are differences in " +
               joined(named);
      case judgement::failed:
        break;
    }
    named.insert(named.end(), report_.missing.begin(), report_.missing.end());
    return "failed: " + joined(named);
  }

  const check_report& report_;
  report_length length_;
  std::string text_;
};

// --- JSON --------------------------------------------------------------------------------------------------

// Names of files are bytes, and JSON is UTF-8: a byte that is part of no character becomes U+FFFD.
std::string valid_utf8(const std::string& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
    };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >> 4 == 0xe             ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    bool valid = length > 0;
    for (std::size_t k = 1; k < length; ++k) valid = valid && byte(i + k) >> 6 == 2;
    if (length > 2) {
      // Neither longer than need be, nor a surrogate, nor past U+10FFFF.
      const unsigned two = first << 8 | byte(i + 1);
      valid = valid && two >= (length == 3 ? 0xe0a0u : 0xf090u) && two <= 0xf48fu &&
              (two < 0xeda0u || two > 0xedbfu);
    }
    text += valid ? bytes.substr(i, length) : "\xef\xbf\xbd";
    i += valid ? length : 1;
  }
  return text;
}

class json_writer {
 public:
  explicit json_writer(const check_report& report) : report_(report) {}

  std::string write() {
    text_ = "{\n";
    member("version", quote("attest-check-v1"));
    member("reference", quote(valid_utf8(report_.reference)));
    member("candidate", quote(valid_utf8(report_.candidate)));
    member("reference_values",
           quote(report_.values == reference_values::from_inputs ? "exact" : "as written"));
    member("tolerance", tolerance(report_.allowed.unnamed()));
    member("verdict", quote(name_of(report_.outcome())));
    member("missing", names(report_.missing));
    member("extra", names(report_.extra));
    member("left_out", names(report_.left_out));
    member("hints", names(report_.hints));
    text_ += "  \"arrays\": [";
    for (std::size_t i = 0; i < report_.arrays.size(); ++i) {
      text_ += i == 0 ? "\n    {\n" : ",\n    {\n";
      array(report_.arrays[i]);
      text_ += "\n    }";
    }
    text_ += report_.arrays.empty() ? "]\n}\n" : "\n  ]\n}\n";
    return text_;
  }

 private:
  void member(const char* key, const std::string& content) {
    text_ += "  " + quote(key) + ": " + content + ",\n";
  }

  static std::string names(const std::vector<std::string>& all) {
    std::string text = "[";
    for (const std::string& name : all) text += (text.size() > 1 ? ", " : "") + quote(valid_utf8(name));
    return text + ']';
  }

  static std::string tolerance(const given_tolerance& t) {
    const tolerance_texts& n = t.numbers;
    return "{\"absolute\": " + (n.absolute ? quote(*n.absolute) : "null") +
           ", \"ulp\": " + n.ulp.value_or("null") +
           ", \"weighted_v\": " + (n.weighted_v ? quote(*n.weighted_v) : "null") + '}';
  }

  // JSON has no NaN and no infinity.
  static std::string json_number(double value) {
    return std::isfinite(value) ? number(value) : quote(number(value));
  }

  static std::string index(const comparison& c, std::size_t at) { return index_text(c.shape, at); }

  static std::string events(const comparison& c, const occurrences& o) {
    return "{\"count\": " + std::to_string(o.count) +
           ", \"first\": " + (o.count == 0 ? "null" : index(c, o.first)) + '}';
  }

  // What is known of one element.
  static std::string place(const array_report& a, std::size_t at) {
    const auto shown = [&](const exact_array& array) {
      return array.beyond.contains(at) ? quote(element_text(array, at)) : json_number(array.values[at]);
    };
    std::string exact = "null";
    if (a.certified) {
      const auto decimal = a.certified->exact_decimal(at);
      exact = decimal ? quote(*decimal) : quote(element_text(a.reference, at));
    }
    return "\"index\": " + index(a.result, at) + ", \"candidate\": " + shown(a.candidate) +
           ", \"reference\": " + shown(a.reference) + ", \"exact\": " + exact +
           (a.measured ? ", \"enclosure\": " + enclosure(a, at) : "");
  }

  static std::string enclosure(const array_report& a, std::size_t at) {
    const auto known = a.measured->enclosures.find(at);
    return known == a.measured->enclosures.end()
               ? "null"
               : "[" + quote(known->second.first) + ", " + quote(known->second.second) + "]";
  }

  template <class T, class Value>
  static std::string error(const array_report& a, const std::optional<largest<T>>& known, Value value) {
    if (!known) return "null";
    return "{\"value\": " + value(*known) + ", " + place(a, known->at) + '}';
  }

  void array(const array_report& a) {
    const comparison& c = a.result;
    std::string separator;
    const auto field = [&](const char* key, const std::string& content) {
      text_ += separator + "      " + quote(key) + ": " + content;
      separator = ",\n";
    };
    field("name", quote(a.name));
    field("verdict", quote(name_of(c.outcome)));
    field("shape", shape_text(c.shape));
    field("candidate_shape", shape_text(c.candidate_shape));
    field("against", quote(c.against_exact ? "exact" : "as written"));
    field("layout", a.layout ? quote(*a.layout) : "null");
    const array_comparison none;
    const array_comparison& m = a.measured ? *a.measured : none;
    field("conventions", names(m.conventions));
    field("conventions_tried", m.conventions_tried == 0 ? "null" : std::to_string(m.conventions_tried));
    field("notes", names(m.notes));
    field("where", m.where.empty() ? "null" : quote(m.where));
    const given_tolerance& allowed = report_.allowed.of(a.name);
    field("tolerance", tolerance(allowed));
    if (!c.same_shape()) return;
    field("elements", std::to_string(c.elements));
    field("different", events(c, c.different));
    field("absolute_error", error(a, c.absolute_error, [&](const largest<double>& e) {
            return json_number(e.value) + ", \"exactly\": " + quote(exact_error(a, e.at));
          }));
    field("ulp_distance",
          error(a, c.ulp_distance, [](const largest<std::uint64_t>& e) { return std::to_string(e.value); }));
    field("ulp_error", error(a, c.ulp_error, [](const largest<double>& e) { return json_number(e.value); }));
    field("weighted_v_error",
          error(a, m.weighted_error, [](const largest<double>& e) { return json_number(e.value); }));
    field("nan_mismatches", events(c, c.nan_mismatches));
    field("infinity_mismatches", events(c, c.infinity_mismatches));
    field("zero_signs", events(c, c.zero_signs));
    field("past_absolute", allowed.limits.absolute ? events(c, c.past_absolute) : "null");
    field("past_ulp", allowed.limits.ulp ? events(c, c.past_ulp) : "null");
    field("past_weighted_v", allowed.limits.weighted_v ? events(c, m.past_weighted) : "null");
    const char* const would_pass = c.blind == blind_spot::zeros ? "zeros" : "constant";
    field("format", quote(a.measured ? a.measured->measure->name : formats::binary64.name));
    field("correctly_rounded", "{\"count\": " + std::to_string(c.correctly_rounded) + ", \"share\": " +
                                   (c.elements == 0 ? "null"
                                                    : json_number(static_cast<double>(c.correctly_rounded) /
                                                                  static_cast<double>(c.elements))) +
                                   '}');
    std::string quantiles;
    for (std::size_t k = 0; k < quantile_levels.size(); ++k)
      quantiles += (k == 0 ? "" : ", ") + quote(number(quantile_levels[k])) + ": " +
                   json_number(c.ulp_error_quantiles[k]);
    field("ulp_error_quantiles", c.ulp_error ? '{' + quantiles + '}' : "null");
    std::string worst;
    if (a.measured)
      for (const std::size_t at : a.measured->worst)
        worst += (worst.empty() ? "{" : ", {") + place(a, at) + '}';
    field("worst", '[' + worst + ']');
    field("cannot_hold", a.measured && (allowed.limits.absolute || allowed.limits.weighted_v)
                             ? events(c, m.cannot_hold)
                             : "null");
    field("would_pass_too", c.blind == blind_spot::none ? "null" : quote(would_pass));
  }

  const check_report& report_;
  std::string text_;
};

}  // namespace

judgement check_report::outcome() const {
  const auto any = [&](judgement v) {
    return std::any_of(arrays.begin(), arrays.end(),
                       [&](const array_report& a) { return a.result.outcome == v; });
  };
  if (!missing.empty() || any(judgement::failed)) return judgement::failed;
  if (any(judgement::not_judged)) return judgement::not_judged;
  return any(judgement::equal) && !any(judgement::passed) ? judgement::equal : judgement::passed;
}

std::string to_text(const check_report& report, report_length length) {
  return text_writer(report, length).write();
}
std::string to_json(const check_report& report) { return json_writer(report).write(); }

}  // namespace attest::tools
