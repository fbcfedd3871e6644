#include <attest/check/arrays.hpp>

#include "reference/significant_decimal.hpp"

#include <attest/check/ulp.hpp>
#include <attest/kernel/float_environment.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace attest {

namespace {

void note(occurrences& what, std::size_t at) {
  if (what.count++ == 0) what.first = at;
}

template <class T>
void keep_largest(std::optional<largest<T>>& known, const T& value, std::size_t at) {
  if (!known || known->value < value) known = largest<T>{value, at};
}

// The exponent of an ulp of this finite number in f.
int unit_exponent(double x, const format& f) {
  const int exponent = x == 0 ? f.min_exponent : std::ilogb(x);
  return std::max(exponent, f.min_exponent) - f.fraction_bits();
}

double largest_number(const format& f) {
  const decoded d = decode(f.largest, f);
  return std::ldexp(static_cast<double>(d.significand), d.exponent);
}

double overflowed(bool negative, const format& f, bool saturate) {
  const double magnitude = saturate         ? largest_number(f)
                           : f.has_infinity ? std::numeric_limits<double>::infinity()
                                            : std::numeric_limits<double>::quiet_NaN();
  return negative ? -magnitude : magnitude;
}

// |a - b| <= bound, exactly.
class bound_test {
 public:
  explicit bound_test(const exact_scalar& bound)
      : bound_(exact_as<unbounded_rational>(bound)), rounded_(nearest_binary64(bound)) {}
  bool operator()(double a, double b) const {
    const double difference = std::fabs(a - b);
    // Each is within 2^-53 of what it rounds, or of 2^-1074.
    if (difference < rounded_ * (1 - 0x1p-50)) return true;
    if (difference > rounded_ * (1 + 0x1p-50) + 0x1p-1070) return false;
    const auto exact = [](double x) {
      return exact_cast<unbounded_rational>(exact_value<unbounded_integer>(x));
    };
    const unbounded_rational d = exact(a) - exact(b);
    return !(bound_ < d) && !(bound_ < unbounded_rational(-d));
  }
  double rounded() const { return rounded_; }

 private:
  unbounded_rational bound_;
  double rounded_;
};

class array_comparer {
 public:
  array_comparer(const array_reference& reference, const array_view& candidate,
                 const format* candidate_format, const array_tolerance& allowed)
      : reference_(reference), candidate_(candidate), candidate_format_(candidate_format), ulp_(allowed.ulp) {
    if (allowed.absolute) absolute_.emplace(*allowed.absolute);
    if (allowed.weighted_v) units_ = nearest_binary64(allowed.weighted_v->units);
    result_.allowed = allowed;
    has_tolerance_ = allowed.any();
  }

  array_comparison run() {
    result_.reference = reference_.high;
    result_.candidate.assign(candidate_.values.begin(), candidate_.values.end());
    result_.shape = reference_.shape;
    result_.candidate_shape.assign(candidate_.shape.begin(), candidate_.shape.end());
    result_.elements = reference_.high.size();
    result_.measure = candidate_format_ != nullptr    ? candidate_format_
                      : reference_.written != nullptr ? reference_.written
                                                      : &formats::binary64;
    if (units_) {
      const weighted_tolerance& w = *result_.allowed.weighted_v;
      const format& f = w.of != nullptr ? *w.of : *result_.measure;
      roundoff_ = std::ldexp(1.0, -f.precision);
      smallest_ = std::ldexp(1.0, f.min_exponent);
    }
    const bool as_written = result_.measure == reference_.written;
    result_.against_exact = !reference_.low.empty();
    if (result_.same_shape()) {
      result_.nearest.resize(result_.elements);
      for (std::size_t i = 0; i < result_.elements; ++i) {
        result_.nearest[i] =
            as_written ? reference_.high[i]
                       : rounded_to(reference_.high[i], low(i), *result_.measure, reference_.saturate);
        const std::size_t before = failures();
        element(i);
        if (failures() != before) result_.failing.push_back(i);
      }
      finish();
    }
    if (!result_.passed()) result_.layout = fitting_layout({reference_.shape, reference_.high}, candidate_);
    if (!reference_.low.empty() && result_.same_shape())
      for (const std::size_t at : result_.places()) result_.enclosures[at] = enclosure_text(reference_, at);
    if (units_ && result_.same_shape())
      for (const std::size_t at : result_.places()) result_.weighted_v[at] = reference_.weighted_v[at];
    return std::move(result_);
  }

 private:
  double low(std::size_t i) const { return reference_.low.empty() ? 0 : reference_.low[i]; }

  // |x - exact| in units of the weighted |V|. A unit that underflows is as if it were the smallest double.
  double weighted_error(double x, std::size_t i) const {
    const double magnitude = std::max(reference_.weighted_v[i], smallest_);
    const double error = std::fabs(x - reference_.high[i] - low(i));
    // Of binary64 alone the products are subnormal: then both are scaled.
    return magnitude * roundoff_ >= 0x1p-1000
               ? error / (magnitude * roundoff_)
               : std::ldexp(error, 200) / (std::ldexp(magnitude, 200) * roundoff_);
  }

  std::size_t failures() const {
    const std::size_t mismatches = result_.nan_mismatches.count + result_.infinity_mismatches.count;
    return mismatches + (has_tolerance_ ? result_.past_absolute.count + result_.past_ulp.count +
                                              result_.past_weighted.count
                                        : result_.different.count);
  }

  void element(std::size_t i) {
    const format& f = *result_.measure;
    const double r = reference_.high[i];
    const double n = result_.nearest[i];
    const double c = candidate_.values[i];
    if (std::isnan(n) || std::isnan(c)) {
      if (std::isnan(n) && std::isnan(c)) {
        ++result_.correctly_rounded;
        return;
      }
      note(result_.nan_mismatches, i);
      note(result_.different, i);
      return;
    }
    if (n == c)
      ++result_.correctly_rounded;
    else
      note(result_.different, i);
    if (std::isinf(n) != std::isinf(c) || (std::isinf(n) && n != c)) note(result_.infinity_mismatches, i);
    if (n == 0 && c == 0 && std::signbit(n) != std::signbit(c)) note(result_.zero_signs, i);
    const std::uint64_t distance = ulp_distance(pattern_of(n, f), pattern_of(c, f), f).value_or(0);
    if (ulp_ && distance > *ulp_) note(result_.past_ulp, i);
    if (std::isinf(n) || std::isinf(c)) {
      if (absolute_ && n != c) note(result_.past_absolute, i);
      if (units_ && n != c) note(result_.past_weighted, i);
      return;
    }
    keep_largest(result_.absolute_error, std::fabs(c - r), i);
    if (absolute_ && !(*absolute_)(c, r)) note(result_.past_absolute, i);
    if (units_) {
      const double error = weighted_error(c, i);
      keep_largest(result_.weighted_error, error, i);
      if (!(error <= *units_)) note(result_.past_weighted, i);
    }
    if ((absolute_ && !(*absolute_)(n, r)) || (units_ && !(weighted_error(n, i) <= *units_)))
      note(result_.cannot_hold, i);
    const double offset = std::ldexp(r - n, -unit_exponent(n, f)) + std::ldexp(low(i), -unit_exponent(n, f));
    const double error = ulp_error(c, n, offset, f);
    keep_largest(result_.ulp_distance, distance, i);
    keep_largest(result_.ulp_error, error, i);
    errors_.push_back(error);
    if (units_) weighted_errors_.push_back(weighted_error(c, i));
    places_.push_back(i);
  }

  void finish() {
    constexpr std::size_t most = 10;
    const std::vector<double>& measured = units_ ? weighted_errors_ : errors_;
    std::vector<std::size_t> order(measured.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t shown = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return measured[a] != measured[b] ? measured[a] > measured[b] : a < b;
                      });
    for (std::size_t k = 0; k < shown; ++k) result_.worst.push_back(places_[order[k]]);
    result_.ulp_error_quantiles = quantiles_of(std::move(errors_));
    find_blind_spot();
    result_.outcome = judge();
  }

  // How far the tolerance lets an element be off.
  double reach(std::size_t i) const {
    double most = std::numeric_limits<double>::infinity();
    if (absolute_) most = absolute_->rounded();
    if (units_) most = std::min(most, *units_ * (std::max(reference_.weighted_v[i], smallest_) * roundoff_));
    return most;
  }

  void find_blind_spot() {
    if ((!absolute_ && !units_) || result_.elements == 0) return;
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    double from = greatest;  // of the constants that are within the tolerance of every element
    double to = least;
    bool zeros = true;
    for (std::size_t i = 0; i < result_.elements; ++i) {
      const double r = reference_.high[i];
      if (!std::isfinite(r)) return;
      least = std::min(least, r);
      greatest = std::max(greatest, r);
      const double most = reach(i);
      from = std::max(from, r - most);
      to = std::min(to, r + most);
      zeros = zeros && (!absolute_ || (*absolute_)(r, 0)) && (!units_ || std::fabs(r) <= most);
    }
    if (least == 0 && greatest == 0) return;
    const bool constant = units_ ? from <= to : greatest - least <= 2 * absolute_->rounded();
    if (zeros)
      result_.blind = blind_spot::zeros;
    else if (least != greatest && constant)
      result_.blind = blind_spot::constant;
  }

  judgement judge() const {
    if (result_.nan_mismatches.count + result_.infinity_mismatches.count > 0) return judgement::failed;
    if (result_.past_absolute.count + result_.past_ulp.count + result_.past_weighted.count > 0)
      return judgement::failed;
    if (has_tolerance_) return judgement::passed;
    return result_.different.count == 0 ? judgement::equal : judgement::not_judged;
  }

  const array_reference& reference_;
  const array_view& candidate_;
  const format* candidate_format_;
  std::optional<std::uint64_t> ulp_;
  std::optional<bound_test> absolute_;
  std::optional<double> units_;  // of the weighted |V|, each of roundoff_ times that, but at least smallest_
  double roundoff_ = 0;
  double smallest_ = 0;
  bool has_tolerance_ = false;
  array_comparison result_;
  std::vector<double> errors_;
  std::vector<double> weighted_errors_;  // of the same elements, where the tolerance is in units of them
  std::vector<std::size_t> places_;
};

bool is_negative(const exact_scalar& x) { return sign(exact_as<unbounded_rational>(x)) < 0; }

}  // namespace

std::vector<std::size_t> array_comparison::places() const {
  std::vector<std::size_t> all = worst;
  for (const occurrences& o :
       {different, past_absolute, past_ulp, past_weighted, nan_mismatches, infinity_mismatches})
    if (o.count > 0) all.push_back(o.first);
  if (absolute_error) all.push_back(absolute_error->at);
  if (ulp_distance) all.push_back(ulp_distance->at);
  if (weighted_error) all.push_back(weighted_error->at);
  return all;
}

std::array<double, 4> quantiles_of(std::vector<double> errors) {
  std::array<double, 4> result{};
  if (errors.empty()) return result;
  std::sort(errors.begin(), errors.end());
  for (std::size_t k = 0; k < result.size(); ++k) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(quantile_levels[k] * static_cast<double>(errors.size())));
    result[k] = errors[std::clamp<std::size_t>(rank, 1, errors.size()) - 1];
  }
  return result;
}

double rounded_to(double high, double low, const format& f, bool saturate) {
  if (std::isnan(high)) return high;
  if (std::isinf(high)) return f.has_infinity ? high : overflowed(high < 0, f, saturate);  // no overflow
  // The sum as a double and its error (D. Knuth's TwoSum), which is at most half an ulp of the double: it
  // decides ties alone.
  const double sum = high + low;
  if (std::isinf(sum)) return overflowed(high < 0, f, saturate);
  const double part = sum - high;
  const double rest_of_sum = (high - (sum - part)) + (low - part);
  const bool negative = sum < 0 || (sum == 0 && std::signbit(high));
  const double magnitude = std::fabs(sum);
  const double beyond = negative ? -rest_of_sum : rest_of_sum;  // in the direction away from zero
  const int unit = unit_exponent(magnitude, f);
  const double units = std::ldexp(magnitude, -unit);
  double whole = std::floor(units);
  const double rest = units - whole;
  const bool up = rest > 0.5 || (rest == 0.5 && (beyond > 0 || (beyond == 0 && std::fmod(whole, 2) != 0)));
  if (up) whole += 1;
  const double rounded = std::ldexp(whole, unit);
  if (rounded > largest_number(f) || std::isinf(rounded)) return overflowed(negative, f, saturate);
  if (rounded == 0 && !f.has_negative_zero) return 0;
  return negative ? -rounded : rounded;
}

std::uint64_t pattern_of(double x, const format& f) {
  if (std::isnan(x)) return f.quiet_nan;
  const std::uint64_t sign = std::signbit(x) ? f.sign_bit() : 0;
  const double magnitude = std::fabs(x);
  if (magnitude == 0) return f.has_negative_zero ? sign : 0;
  if (std::isinf(x)) return f.has_infinity ? f.infinity | sign : f.quiet_nan;
  const int unit = unit_exponent(magnitude, f);
  // The hidden bit of a normal number adds the missing 1 to its biased exponent.
  const auto significand = static_cast<std::uint64_t>(std::ldexp(magnitude, -unit));
  return sign | (significand + (static_cast<std::uint64_t>(unit - f.min_unit()) << f.fraction_bits()));
}

array_comparison compare_arrays(const array_reference& reference, const array_view& candidate,
                                const format* candidate_format, const array_tolerance& allowed) {
  if (elements_of(reference.shape) != reference.high.size() ||
      (!reference.low.empty() && reference.low.size() != reference.high.size()))
    throw std::invalid_argument("the reference's elements do not fit its shape " +
                                shape_text(reference.shape));
  if (elements_of(candidate.shape) != candidate.values.size())
    throw std::invalid_argument("the candidate's elements do not fit its shape " +
                                shape_text(candidate.shape));
  if ((allowed.absolute && is_negative(*allowed.absolute)) ||
      (allowed.weighted_v && is_negative(allowed.weighted_v->units)))
    throw std::invalid_argument("a tolerance is negative");
  if (allowed.weighted_v && reference.weighted_v.size() != reference.high.size())
    throw std::invalid_argument(
        "the tolerance is in units of the weighted |V|, and the reference has that of " +
        std::to_string(reference.weighted_v.size()) + " of its " + std::to_string(reference.high.size()) +
        " elements");
  // The arithmetic stands behind a call that is not inlined: see float_environment.
  const kernel::float_environment environment;
  array_comparison (array_comparer::*volatile run)() = &array_comparer::run;
  array_comparer all(reference, candidate, candidate_format, allowed);
  return (all.*run)();
}

std::optional<std::string> fitting_layout(const array_view& reference, const array_view& candidate) {
  const std::size_t axes = reference.shape.size();
  if (axes < 3 || axes > 4 || candidate.shape.size() != axes ||
      reference.values.size() != candidate.values.size())
    return std::nullopt;
  double largest = 0;
  for (const double r : reference.values)
    if (std::isfinite(r)) largest = std::max(largest, std::fabs(r));
  if (largest == 0) return std::nullopt;
  const auto fits = [&](double r, double c) {
    return (std::isnan(r) && std::isnan(c)) || r == c || std::fabs(r - c) <= largest / 32;
  };
  std::vector<std::size_t> strides(axes, 1);
  for (std::size_t axis = axes - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * reference.shape[axis + 1];
  std::vector<std::size_t> order(axes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::string names[2][4] = {{"B", "T", "d", ""}, {"B", "H", "T", "d"}};
  const bool own_order = std::equal(reference.shape.begin(), reference.shape.end(), candidate.shape.begin());
  if (own_order) {
    bool all = true;
    for (std::size_t i = 0; i < reference.values.size() && all; ++i)
      all = fits(reference.values[i], candidate.values[i]);
    if (all) return std::nullopt;
  }
  while (std::next_permutation(order.begin(), order.end())) {
    bool same_shape = true;
    for (std::size_t k = 0; k < axes; ++k)
      same_shape = same_shape && candidate.shape[k] == reference.shape[order[k]];
    if (!same_shape && !own_order) continue;
    std::vector<std::size_t> index(axes, 0);
    bool all = true;
    for (std::size_t at = 0; at < candidate.values.size() && all; ++at) {
      std::size_t from = 0;
      for (std::size_t k = 0; k < axes; ++k) from += index[k] * strides[order[k]];
      all = fits(reference.values[from], candidate.values[at]);
      for (std::size_t k = axes; k-- > 0;) {
        if (++index[k] < reference.shape[order[k]]) break;
        index[k] = 0;
      }
    }
    if (!all) continue;
    std::string text;
    for (const std::size_t k : order) text += (text.empty() ? "[" : ", ") + names[axes - 3][k];
    return text + "]";
  }
  return std::nullopt;
}

std::pair<std::string, std::string> enclosure_text(const array_reference& reference, std::size_t at) {
  const double high = reference.high[at];
  if (!std::isfinite(high)) {
    const std::string word = std::isnan(high) ? "NaN" : high < 0 ? "-Infinity" : "Infinity";
    return {word, word};
  }
  const double low = reference.low.empty() ? 0 : reference.low[at];
  const format& f = reference.written != nullptr ? *reference.written : formats::binary64;
  const int radius =
      reference.low.empty() ? unit_exponent(high, f) - 1 : unit_exponent(low, formats::binary32);
  const auto exact = [](double x) {
    return exact_cast<unbounded_rational>(exact_value<unbounded_integer>(x));
  };
  const unbounded_rational center = exact(high) + exact(low);
  // The decimals are off by less than the 16th of the radius that is added.
  const auto reach = exact_cast<unbounded_rational>(unbounded_dyadic(unbounded_integer(17), radius - 4));
  const double magnitude = std::max(std::fabs(high), std::ldexp(1.0, std::max(radius, -1074)));
  const double bits = std::log2(magnitude) - radius + 6;
  const auto digits = static_cast<unsigned>(std::max(bits * 0.302, 1.0)) + 2;
  return {significant_decimal(simplest(center - reach), digits),
          significant_decimal(simplest(center + reach), digits)};
}

}  // namespace attest
