#include <attest/check/certified.hpp>

#include "reference/significant_decimal.hpp"

#include <attest/exact/decimal.hpp>
#include <attest/reference/rounded.hpp>
#include <attest/rounding/format.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <string_view>

namespace attest {

namespace {

// (x - nearest) / ulp(nearest), correctly rounded.
double offset_of(const unbounded_rational& x, double nearest) {
  if (std::isinf(nearest)) return 0;
  const decoded d = decode(std::bit_cast<std::uint64_t>(nearest), formats::binary64);
  const auto value = exact_cast<unbounded_rational>(exact_value<unbounded_integer>(nearest));
  const auto one_per_ulp =
      exact_cast<unbounded_rational>(unbounded_dyadic(unbounded_integer(1), -d.exponent));
  return nearest_binary64(simplest((x - value) * one_per_ulp));
}

// Whether a decimal is below 10^-400 in magnitude, a part in 10^76 of the smallest binary64. Its power of ten
// may be too large to compute with.
bool is_negligible(std::string_view decimal) {
  if (decimal.starts_with('<') || decimal.starts_with('>')) return true;
  const auto e = decimal.find('e');
  if (e == std::string_view::npos) return false;
  long exponent = 0;
  std::from_chars(decimal.data() + e + 1, decimal.data() + decimal.size(), exponent);
  return exponent < -400;
}

double offset_of(const reference_value& x) {
  if (x.exact) return offset_of(exact_as<unbounded_rational>(*x.exact), x.nearest);
  if (is_negligible(x.decimal)) return 0;
  return offset_of(parse_decimal<unbounded_integer>(x.decimal).value(), x.nearest);
}

bool is_binary64(const exact_scalar& x, double nearest) {
  return std::isfinite(nearest) && exact_scalar(exact_value<unbounded_integer>(nearest)) == x;
}

void append(certified_array& array, const exact_scalar& x) {
  const double nearest = nearest_binary64(x);
  const std::size_t at = array.reference.values.size();
  array.reference.values.push_back(nearest);
  const bool exact = is_binary64(x, nearest);
  if (!exact && (is_integer(x) || std::isinf(nearest))) array.reference.beyond.emplace(at, x);
  array.offsets.push_back(exact ? 0 : offset_of(exact_as<unbounded_rational>(x), nearest));
}

certified_array certified(const char* name, const exact_matrix& m, unsigned digits) {
  certified_array result{name, {{rows(m), columns(m)}, {}, {}}, {}, {m}, digits};
  for (std::size_t i = 0; i < rows(m); ++i)
    for (std::size_t j = 0; j < columns(m); ++j) append(result, element(m, i, j));
  return result;
}

certified_array certified(const char* name, const matrix<reference_value>& m, unsigned digits) {
  certified_array result{name, {{m.rows(), m.columns()}, {}, {}}, {}, {}, digits};
  std::vector<std::string> decimals;
  for (std::size_t i = 0; i < m.rows(); ++i)
    for (std::size_t j = 0; j < m.columns(); ++j) {
      const reference_value& x = m(i, j);
      if (x.exact) {
        append(result, *x.exact);
      } else {
        result.reference.values.push_back(x.nearest);
        result.offsets.push_back(offset_of(x));
      }
      const bool shown = !x.exact || !is_binary64(*x.exact, x.nearest);
      decimals.push_back(shown ? x.decimal : std::string());
    }
  result.exact.push_back(std::move(decimals));
  return result;
}

}  // namespace

exact_scalar exact_array::exact(std::size_t at) const {
  const auto found = beyond.find(at);
  if (found != beyond.end()) return found->second;
  return exact_value<unbounded_integer>(values[at]);
}

std::optional<std::string> certified_array::exact_decimal(std::size_t at) const {
  const std::size_t in_each = reference.values.size() / exact.size();
  const auto& example = exact[at / in_each];
  const std::size_t place = at % in_each;
  if (const auto* decimals = std::get_if<std::vector<std::string>>(&example)) {
    if ((*decimals)[place].empty()) return std::nullopt;
    return (*decimals)[place];
  }
  const auto& m = std::get<exact_matrix>(example);
  const exact_scalar x = element(m, place / columns(m), place % columns(m));
  if (is_binary64(x, reference.values[at])) return std::nullopt;
  return significant_decimal(x, digits);
}

std::vector<certified_array> certified_arrays(const attention_reference& answer) {
  const unsigned digits = answer.digits;
  std::vector<certified_array> all;
  all.push_back(certified("Q", answer.queries, digits));
  all.push_back(certified("K", answer.keys, digits));
  all.push_back(certified("V", answer.values, digits));
  all.push_back(certified("dots", answer.dots, digits));
  all.push_back(certified("weights", answer.weights, digits));
  all.push_back(certified("output", answer.output, digits));
  return all;
}

std::vector<certified_array> certified_batch(std::span<const attention_reference> answers) {
  std::vector<certified_array> all;
  for (const attention_reference& answer : answers) {
    std::vector<certified_array> one = certified_arrays(answer);
    if (all.empty()) {
      all = std::move(one);
      for (certified_array& a : all) a.reference.shape.insert(a.reference.shape.begin(), answers.size());
      continue;
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
      certified_array& to = all[k];
      const certified_array& from = one[k];
      const std::size_t before = to.reference.values.size();
      to.reference.values.insert(to.reference.values.end(), from.reference.values.begin(),
                                 from.reference.values.end());
      to.offsets.insert(to.offsets.end(), from.offsets.begin(), from.offsets.end());
      to.exact.insert(to.exact.end(), from.exact.begin(), from.exact.end());
      for (const auto& [at, x] : from.reference.beyond) to.reference.beyond.emplace(before + at, x);
    }
  }
  return all;
}

}  // namespace attest
