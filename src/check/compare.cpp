#include <attest/check/arrays.hpp>
#include <attest/check/certified.hpp>
#include <attest/check/ulp.hpp>
#include <attest/kernel/float_environment.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace attest {

std::size_t elements_of(std::span<const std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    if (extent != 0 && count > std::numeric_limits<std::size_t>::max() / extent)
      throw std::invalid_argument("a shape has too many elements: " + shape_text(shape));
    count *= extent;
  }
  return count;
}

namespace {

/// An array as compare() takes it: `beyond` may be missing.
struct operand {
  array_view array;
  const std::map<std::size_t, exact_scalar>* beyond = nullptr;

  double operator[](std::size_t i) const { return array.values[i]; }
  const exact_scalar* beyond_binary64(std::size_t i) const {
    if (beyond == nullptr) return nullptr;
    const auto found = beyond->find(i);
    return found == beyond->end() ? nullptr : &found->second;
  }
  exact_scalar exact(std::size_t i) const {
    if (const exact_scalar* x = beyond_binary64(i)) return *x;
    return exact_value<unbounded_integer>(array.values[i]);
  }
  // An integer past the range of binary64 has an infinite `values` and is finite.
  bool is_infinite(std::size_t i) const { return std::isinf(array.values[i]); }
  bool is_finite(std::size_t i) const {
    return std::isfinite(array.values[i]) || beyond_binary64(i) != nullptr;
  }
};

exact_scalar difference(const exact_scalar& a, const exact_scalar& b) {
  if (is_dyadic(a) && is_dyadic(b))
    return absolute(unbounded_dyadic(exact_as<unbounded_dyadic>(a) - exact_as<unbounded_dyadic>(b)));
  return simplest(
      absolute(unbounded_rational(exact_as<unbounded_rational>(a) - exact_as<unbounded_rational>(b))));
}

bool less(const exact_scalar& a, const exact_scalar& b) {
  if (is_dyadic(a) && is_dyadic(b)) return exact_as<unbounded_dyadic>(a) < exact_as<unbounded_dyadic>(b);
  return exact_as<unbounded_rational>(a) < exact_as<unbounded_rational>(b);
}

/// A number that is compared with others of its kind: exactly, but by its rounding where that is enough.
/// (Rounding is monotone: what rounds to less is less.)
struct magnitude {
  double rounded = 0;
  std::function<exact_scalar()> exact;
};
bool less(const magnitude& a, const magnitude& b) {
  if (a.rounded != b.rounded) return a.rounded < b.rounded;
  return less(a.exact(), b.exact());
}

void note(occurrences& what, std::size_t at) {
  if (what.count++ == 0) what.first = at;
}

class comparer {
 public:
  comparer(const operand& reference, const operand& candidate, const exact_tolerance& allowed,
           std::span<const double> offsets)
      : reference_(reference), candidate_(candidate), offsets_(offsets), ulp_(allowed.ulp) {
    if (!allowed.absolute) return;
    absolute_ = magnitude{nearest_binary64(*allowed.absolute), [x = *allowed.absolute] { return x; }};
  }

  comparison run() {
    const auto& r = reference_.array;
    const auto& c = candidate_.array;
    result_.shape.assign(r.shape.begin(), r.shape.end());
    result_.candidate_shape.assign(c.shape.begin(), c.shape.end());
    result_.elements = r.values.size();
    result_.against_exact = !offsets_.empty();
    if (!result_.same_shape()) return result_;
    for (std::size_t i = 0; i < result_.elements; ++i) element(i);
    result_.correctly_rounded = result_.elements - not_correctly_rounded_;
    result_.ulp_error_quantiles = quantiles_of(std::move(ulp_errors_));
    find_blind_spot();
    result_.outcome = judge();
    return result_;
  }

 private:
  void element(std::size_t i) {
    const double r = reference_[i];
    const double c = candidate_[i];
    if (r != c && !(std::isnan(r) && std::isnan(c))) ++not_correctly_rounded_;
    if (std::isnan(r) || std::isnan(c)) {
      if (std::isnan(r) && std::isnan(c)) return;
      note(result_.nan_mismatches, i);
      note(result_.different, i);
      return;
    }
    const bool same_binary64 = r == c;
    if (reference_.is_infinite(i) != candidate_.is_infinite(i) || (std::isinf(r) && !same_binary64))
      note(result_.infinity_mismatches, i);
    if (r == 0 && c == 0 && std::signbit(r) != std::signbit(c)) note(result_.zero_signs, i);

    if (reference_.is_finite(i) && candidate_.is_finite(i)) {
      absolute_error(i);
    } else if (reference_.is_finite(i) || candidate_.is_finite(i) || !same_binary64) {
      note(result_.different, i);
      if (absolute_) note(result_.past_absolute, i);  // infinitely far off
    }
    const std::uint64_t distance = *ulp_distance(r, c);
    if (ulp_ && distance > *ulp_) note(result_.past_ulp, i);
    if (std::isinf(r) || std::isinf(c)) return;
    keep_largest(result_.ulp_distance, distance, i);
    const double error = ulp_error(c, r, offsets_.empty() ? 0 : offsets_[i]);
    keep_largest(result_.ulp_error, error, i);
    ulp_errors_.push_back(error);
  }

  template <class T>
  static void keep_largest(std::optional<largest<T>>& known, const T& value, std::size_t at) {
    if (!known || known->value < value) known = largest<T>{value, at};
  }

  void absolute_error(std::size_t i) {
    const bool plain = reference_.beyond_binary64(i) == nullptr && candidate_.beyond_binary64(i) == nullptr;
    magnitude error;
    error.exact = [this, i] { return difference(candidate_.exact(i), reference_.exact(i)); };
    error.rounded = plain ? std::fabs(candidate_[i] - reference_[i]) : nearest_binary64(error.exact());
    const bool same = error.rounded == 0 && (plain || sign(exact_as<unbounded_rational>(error.exact())) == 0);
    if (!same) note(result_.different, i);
    if (absolute_ && !same && less(*absolute_, error)) note(result_.past_absolute, i);
    if (result_.absolute_error && (same || !less(largest_error_, error))) return;
    result_.absolute_error = largest<double>{error.rounded, i};
    largest_error_ = error;
  }

  void find_blind_spot() {
    if (!absolute_) return;
    std::optional<std::size_t> least;
    std::optional<std::size_t> greatest;
    const auto below = [&](std::size_t i, std::size_t j) {
      if (reference_[i] != reference_[j]) return reference_[i] < reference_[j];
      return less(reference_.exact(i), reference_.exact(j));
    };
    for (std::size_t i = 0; i < result_.elements; ++i) {
      if (!reference_.is_finite(i)) return;
      if (!least || below(i, *least)) least = i;
      if (!greatest || below(*greatest, i)) greatest = i;
    }
    const exact_scalar low = reference_.exact(*least);
    const exact_scalar high = reference_.exact(*greatest);
    const exact_scalar zero = unbounded_dyadic(0);
    const exact_scalar allowed = absolute_->exact();
    const auto covers = [](const exact_scalar& bound, const exact_scalar& x) { return !less(bound, x); };
    const exact_scalar range = difference(high, low);
    const exact_scalar twice = simplest(unbounded_rational(2) * exact_as<unbounded_rational>(allowed));
    if (high == zero && low == zero) return;
    if (covers(allowed, difference(high, zero)) && covers(allowed, difference(low, zero)))
      result_.blind = blind_spot::zeros;
    else if (range != zero && covers(twice, range))
      result_.blind = blind_spot::constant;
  }

  judgement judge() const {
    if (result_.nan_mismatches.count + result_.infinity_mismatches.count > 0) return judgement::failed;
    if (result_.past_absolute.count + result_.past_ulp.count > 0) return judgement::failed;
    if (absolute_ || ulp_) return judgement::passed;
    return result_.different.count == 0 ? judgement::equal : judgement::not_judged;
  }

  operand reference_;
  operand candidate_;
  std::vector<double> ulp_errors_;
  std::size_t not_correctly_rounded_ = 0;
  std::span<const double> offsets_;
  std::optional<std::uint64_t> ulp_;
  std::optional<magnitude> absolute_;
  magnitude largest_error_;
  comparison result_;
};

void require_elements(const char* which, const array_view& a) {
  const std::size_t count = elements_of(a.shape);
  if (count != a.values.size())
    throw std::invalid_argument(std::string("the ") + which + " has " + std::to_string(a.values.size()) +
                                " values, and its shape is " + shape_text(a.shape));
  if (count == 0)
    throw std::invalid_argument(std::string("the ") + which + " has no elements: nothing to compare");
}

comparison compare_operands(const operand& reference, const operand& candidate,
                            const exact_tolerance& allowed, std::span<const double> offsets) {
  require_elements("reference", reference.array);
  require_elements("candidate", candidate.array);
  if (!offsets.empty() && offsets.size() != reference.array.values.size())
    throw std::invalid_argument("there are " + std::to_string(offsets.size()) + " offsets for " +
                                std::to_string(reference.array.values.size()) + " elements");
  if (allowed.absolute && sign(exact_as<unbounded_rational>(*allowed.absolute)) < 0)
    throw std::invalid_argument("the absolute tolerance is negative");
  // The arithmetic stands behind a call that is not inlined: see float_environment.
  const kernel::float_environment environment;
  comparison (comparer::*volatile run)() = &comparer::run;
  comparer all(reference, candidate, allowed, offsets);
  return (all.*run)();
}

}  // namespace

const char* name_of(judgement v) {
  switch (v) {
    case judgement::passed:
      return "passed";
    case judgement::failed:
      return "failed";
    case judgement::equal:
      return "equal";
    case judgement::not_judged:
      return "not judged";
  }
  return "";
}

comparison compare(const array_view& reference, const array_view& candidate, const tolerance& allowed,
                   std::span<const double> offsets) {
  exact_tolerance exact{std::nullopt, allowed.ulp};
  if (allowed.absolute) {
    if (!std::isfinite(*allowed.absolute) || *allowed.absolute < 0)
      throw std::invalid_argument("an absolute tolerance is a finite number that is not negative");
    exact.absolute = exact_value<unbounded_integer>(*allowed.absolute);
  }
  return compare_operands({reference}, {candidate}, exact, offsets);
}

comparison compare_exact(const exact_array& reference, const exact_array& candidate,
                         const exact_tolerance& allowed, std::span<const double> offsets) {
  return compare_operands({reference.view(), &reference.beyond}, {candidate.view(), &candidate.beyond},
                          allowed, offsets);
}

exact_scalar absolute_difference(const exact_array& reference, const exact_array& candidate, std::size_t at) {
  return difference(candidate.exact(at), reference.exact(at));
}

std::string describe(const comparison& c) {
  std::string text = name_of(c.outcome);
  if (!c.same_shape())
    return text + ": the shape is " + shape_text(c.candidate_shape) + ", and the reference's is " +
           shape_text(c.shape);
  const auto number = [](auto value) {
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  };
  const auto add = [&](const std::string& what, const auto& known) {
    if (!known || known->value == 0) return;
    text += ", " + what + ' ' + number(known->value) + " at " + index_text(c.shape, known->at);
  };
  const auto count = [&](const char* what, const occurrences& o) {
    if (o.count > 0)
      text += "; " + std::to_string(o.count) + ' ' + what + ", first at " + index_text(c.shape, o.first);
  };
  text += ": " + std::to_string(c.different.count) + " of " + std::to_string(c.elements) + " elements differ";
  add("absolute error", c.absolute_error);
  add("ulp distance", c.ulp_distance);
  add("ulp error", c.ulp_error);
  count("NaN in one array alone", c.nan_mismatches);
  count("infinity in one array alone", c.infinity_mismatches);
  count("past the absolute tolerance", c.past_absolute);
  count("past the ulp tolerance", c.past_ulp);
  return text;
}

}  // namespace attest
