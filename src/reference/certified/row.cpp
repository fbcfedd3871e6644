#include "reference/certified/row.hpp"

#include "reference/certified/fixed_row.hpp"

#include <attest/enclosure/elementary.hpp>
#include <attest/enclosure/evaluate.hpp>
#include <attest/enclosure/printed.hpp>
#include <attest/rounding/round.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace attest::certified {

namespace {

using enclosure = interval<growing>;
using exact_surd = surd<unbounded_dyadic>;

constexpr unsigned first_bits = detail::first_working_precision;

/// The limit where a softcap makes ties impossible to exclude. Enclosures of up to so many bits are tried.
constexpr unsigned softcap_bits = 4096;

/// The least exponent with |x| < 2^exponent; 0 for 0.
long top_exponent(const unbounded_dyadic& x) {
  return sign(x) == 0 ? 0 : x.exponent() + static_cast<long>(bit_length(x.significand()));
}

/// k where d = k², 0 where d is no square.
unsigned long long exact_root(unsigned long long d) {
  const auto r = floor_square_root(to_natural<2>(d));
  return r.exact && r.floor.size != 0 ? r.floor.limbs[0] : 0;
}

enclosure exactly(const unbounded_dyadic& x) { return evaluate<growing>(x, 64); }

std::size_t hash_of(const unbounded_dyadic& x) {
  const unbounded_integer n = x.significand();
  std::uint64_t h = static_cast<std::uint64_t>(x.exponent()) * 0x9E3779B97F4A7C15u + (n.sign() < 0 ? 1 : 0);
  for (std::size_t i = 0; i < n.backend().size(); ++i)
    h = (h ^ detail::limb_of(n, i)) * 0xD1342543DE82EF95u + (h >> 29);
  return static_cast<std::size_t>(h ^ h >> 32);
}

/// A score that is known exactly: raw is what the softcap is applied to (without a softcap, all there is),
/// added what comes afterwards.
struct exact_score {
  exact_surd raw;
  unbounded_dyadic added;  // 0 without a softcap
};

/// 40 digits, rounded outward; numbers below 2^-100000 get their sign only.
std::string decimal_of(const interval_end<growing>& end, decimal_rounding direction) {
  if (end.exponent + static_cast<std::int64_t>(bit_length(end.magnitude)) < -100000) {
    if (direction == decimal_rounding::lower) return end.negative ? "-1e-30102" : "0";
    return end.negative || end.magnitude.size == 0 ? "0" : "1e-30102";
  }
  const unbounded_integer n = detail::to_integer<unbounded_integer>(end.magnitude);
  const unbounded_dyadic value(end.negative ? unbounded_integer(-n) : n, static_cast<long>(end.exponent));
  std::string text;
  print(text, to_significant_decimal(value, 40, direction));
  return text;
}

}  // namespace

std::optional<unbounded_dyadic> value_of_pattern(std::uint64_t pattern, const format& f) {
  const decoded d = decode(pattern, f);
  if (d.kind != number_kind::finite) return std::nullopt;
  return dyadic_of({d.negative, d.significand, d.exponent});
}

// It is that of binary64 with fewer last bits, all 0, and another bias.
std::optional<std::uint64_t> exact_pattern(double x, const format& f) {
  const auto bits = std::bit_cast<std::uint64_t>(std::fabs(x));
  const int dropped = 53 - f.precision;
  if (std::fabs(x) < std::ldexp(1.0, f.min_exponent) || bits >> dropped << dropped != bits)
    return std::nullopt;
  const std::uint64_t pattern =
      (bits >> dropped) - (static_cast<std::uint64_t>(1022 + f.min_exponent) << f.fraction_bits());
  if (pattern > f.largest) return std::nullopt;
  return x < 0 ? pattern | f.sign_bit() : pattern;
}

std::uint64_t round_ratio(const unbounded_dyadic& numerator, std::uint64_t denominator, const target& to,
                          bool* half_step) {
  const format& f = *to.to;
  const unbounded_integer n = numerator.significand();
  natural<growing> m = to_natural<growing>(n);
  std::int64_t exponent = numerator.exponent();
  bool more = false;
  if (denominator != 1 && m.size != 0) {
    const int twos = std::countr_zero(denominator);
    exponent -= twos;
    denominator >>= twos;
    // precision + 3 bits of the quotient at least: its unit is smaller than half a step, of subnormal numbers
    // too.
    const std::int64_t shift = std::max<std::int64_t>(
        std::int64_t{f.precision} + 3 + 64 - static_cast<std::int64_t>(bit_length(m)), 0);
    auto quotient = divide(shifted<growing>(m, shift), denominator);
    more = quotient.remainder != 0;
    m = std::move(quotient.quotient);
    exponent -= shift;
  }
  const detail::half_step at = detail::position(m, exponent, more, f);
  if (half_step != nullptr) *half_step = at.exact;
  return detail::round_signed(n.sign() < 0, at, f, to.direction);
}

class row_engine::implementation {
 public:
  implementation(const row_view& row, const row_limits& limits, effort& work)
      : row_(row),
        limits_(limits),
        work_(work),
        width_(row.k->width),
        whole_root_(row.steps->scale ? 0 : exact_root(width_)) {
    capped_ = row.steps->softcap.has_value();
    if (row.steps->scale) scale_ = exact_value<unbounded_integer>(*row.steps->scale);
    if (capped_) softcap_ = exact_value<unbounded_integer>(*row.steps->softcap);
    if (row.steps->slope) slope_ = exact_value<unbounded_integer>(*row.steps->slope);
    if (capped_ && (!limits_.max_bits || *limits_.max_bits > softcap_bits)) limits_.max_bits = softcap_bits;
    fixed_ = fixed_row::of(row, work);
  }

  verdict output(std::size_t column, const target& to, const unbounded_dyadic* less) {
    std::optional<enclosure> first;
    if (fixed_) first = fixed_->weighted(column);
    if (first) first = divide(*first, fixed_->normaliser(), first_bits);
    if (const auto v = settled_at_once(first, to, less)) return *v;
    collect_terms();
    unbounded_dyadic shared;
    if (proportional(column, shared) == terms_.size()) return rational(shared, terms_[0].count, to, less);
    // Numerators take storage that grows; most outputs do without.
    std::vector<unbounded_dyadic> numerators;
    const auto known = [&]() -> const std::vector<unbounded_dyadic>& {
      if (numerators.empty())
        for (std::size_t t = 0; t < terms_.size(); ++t) numerators.push_back(numerator(t, column));
      return numerators;
    };
    const auto enclose = [&](unsigned bits) {
      if (first && bits == first_bits) return *first;
      return normalised(enclosed_sum(known(), bits), bits);
    };
    return fraction(enclose, known, to, less);
  }

  verdict weight(std::size_t key, const target& to, const unbounded_dyadic* less) {
    std::optional<enclosure> first;
    if (fixed_) first = divide(fixed_->exponential(key), fixed_->normaliser(), first_bits);
    if (const auto v = settled_at_once(first, to, less)) return *v;
    collect_terms();
    if (terms_.size() == 1) return rational(unbounded_dyadic(1), terms_[0].count, to, less);
    const std::size_t own = term_of_key_[key - row_.first];
    std::vector<unbounded_dyadic> numerators;
    const auto known = [&]() -> const std::vector<unbounded_dyadic>& {
      if (numerators.empty()) {
        numerators.resize(terms_.size());
        numerators[own] = unbounded_dyadic(1);
      }
      return numerators;
    };
    const auto enclose = [&](unsigned bits) {
      return normalised(exponential(largest_, own, bits), bits);
    };
    return fraction(enclose, known, to, less);
  }

  verdict log_sum_exp(log_sum_exp_base base, const target& to, const unbounded_dyadic* less) {
    std::optional<enclosure> first;
    if (fixed_) {
      first = add(fixed_->largest(), log(fixed_->normaliser(), first_bits), first_bits);
      if (base == log_sum_exp_base::two) first = divide(*first, ln2<growing>(first_bits), first_bits);
    }
    if (const auto v = settled_at_once(first, to, less)) return *v;
    collect_terms();
    if (terms_.size() == 1) {
      const exact_score& score = terms_[0].score;
      const std::uint64_t n = terms_[0].count;
      if (base == log_sum_exp_base::two) {
        // log2(n e^α) is rational only for α = 0, and then only for a power of two.
        if (is_zero(score) && std::has_single_bit(n))
          return rational(unbounded_dyadic(std::countr_zero(n)), 1, to, less);
      } else if (n == 1) {
        // α is rational: without a root, or over the root of a square. α = cap tanh(s) + bias is
        // transcendental for s != 0.
        if (!capped_ && whole_root_ != 0 && !score.raw.is_rational())
          return rational(score.raw.rational_part() * unbounded_dyadic(unbounded_integer(whole_root_)) +
                              score.raw.root_part(),
                          whole_root_, to, less);
        if (!capped_ && score.raw.is_rational()) return rational(score.raw.rational_part(), 1, to, less);
        if (capped_ && sign(score.raw) == 0) return rational(score.added, 1, to, less);
      }
    }
    const auto enclose = [&](unsigned bits) { return enclosed_logarithm(base, bits); };
    const auto compare = [&](const unbounded_dyadic& b, unsigned& bits) {
      return compare_logarithm(base, b, bits);
    };
    return settle(enclose, compare, to, less);
  }

 private:
  struct term {
    exact_score score;
    std::uint64_t count = 0;             // keys of this score, the sink counted
    std::vector<std::size_t> keys = {};  // the keys among them
  };
  struct level {
    std::vector<std::optional<enclosure>> exponentials;  // e^{α - α of the reference}
    std::optional<enclosure> sum;
  };

  /// What fixed storage encloses, if that settles it: between neighbouring half steps of the format, so that
  /// it is no number of the format and no tie. Of a low word it is enough that all members round alike.
  static std::optional<verdict> settled_at_once(const std::optional<enclosure>& x, const target& to,
                                                const unbounded_dyadic* less) {
    if (!x) return std::nullopt;
    verdict v;
    v.bits = first_bits;
    if (less != nullptr) {
      const interval_rounding r = round_interval(subtract(*x, exactly(*less), first_bits), *to.to, to.direction);
      v.pattern = r.pattern;
      if (r.outcome != rounding_outcome::settled) return std::nullopt;
      return v;
    }
    const interval_end<growing> low = lower(*x);
    const interval_end<growing> high = upper(*x);
    const detail::half_step low_at = detail::position(low.magnitude, low.exponent, false, *to.to);
    const detail::half_step high_at = detail::position(high.magnitude, high.exponent, false, *to.to);
    if (low_at.exact || high_at.exact || low_at.index != high_at.index || low.negative != high.negative)
      return std::nullopt;
    v.pattern = detail::round_signed(low.negative, low_at, *to.to, to.direction);
    return v;
  }

  // The scores.

  /// When it is first asked for.
  void collect_terms() {
    if (!terms_.empty()) return;
    std::vector<input_number> q(width_);
    for (std::size_t c = 0; c < width_; ++c) q[c] = (*row_.q)(row_.query, c);
    std::unordered_multimap<std::size_t, std::size_t> by_hash;
    exact_accumulator dot;
    term_of_key_.assign(row_.last - row_.first, 0);
    for (std::size_t j = row_.first; j < row_.last; ++j) {
      if (!row_.sees(j)) continue;
      work_.spent(first_bits + width_);
      dot.clear();
      for (std::size_t c = 0; c < width_; ++c) dot.add_product(q[c], (*row_.k)(j, c));
      const std::size_t t = term_for(score_of(dot.value(), j), by_hash);
      terms_[t].keys.push_back(j);
      ++terms_[t].count;
      term_of_key_[j - row_.first] = t;
    }
    if (row_.steps->sink) {
      const unbounded_dyadic sink = exact_value<unbounded_integer>(*row_.steps->sink);
      exact_score score;
      if (capped_)
        score.added = sink;
      else
        score.raw = exact_surd(sink);
      ++terms_[term_for(score, by_hash)].count;
    }
    largest_ = largest_of([](std::size_t) { return true; });
  }

  exact_score score_of(const unbounded_dyadic& dot, std::size_t key) const {
    exact_score score;
    if (scale_)
      score.raw = exact_surd(dot * *scale_);
    else if (whole_root_ != 0 && std::has_single_bit(whole_root_))
      score.raw =
          exact_surd(unbounded_dyadic(dot.significand(), dot.exponent() - std::countr_zero(whole_root_)));
    else
      score.raw = exact_surd(unbounded_dyadic(0), dot, width_);
    unbounded_dyadic added(0);
    if (row_.bias != nullptr) added = exact_value<unbounded_integer>(row_.bias[key - row_.first]);
    if (slope_) {
      const long long apart = std::abs(static_cast<long long>(row_.position) - static_cast<long long>(key));
      added = added - *slope_ * unbounded_dyadic(unbounded_integer(apart));
    }
    if (capped_)
      score.added = added;
    else if (sign(added) != 0)
      score.raw = score.raw + exact_surd(added);
    return score;
  }

  bool is_zero(const exact_score& s) const { return sign(s.raw) == 0 && sign(s.added) == 0; }

  /// Equal scores have equal keys of this kind, and only they: 1 and 1/√d are linearly independent but for a
  /// square d.
  std::pair<unbounded_dyadic, unbounded_dyadic> canonical(const exact_score& s) const {
    unbounded_dyadic rational_part = s.raw.rational_part();
    unbounded_dyadic root_part = s.raw.root_part();
    if (s.raw.is_rational()) root_part = unbounded_dyadic(0);
    if (whole_root_ != 0) {
      rational_part = rational_part * unbounded_dyadic(unbounded_integer(whole_root_)) + root_part;
      root_part = s.added;
    } else if (capped_) {
      // Here one of the two parts is zero: the raw score is a product.
      if (sign(rational_part) == 0) rational_part = root_part;
      root_part = s.added;
    }
    return {rational_part, root_part};
  }

  std::size_t term_for(const exact_score& score, std::unordered_multimap<std::size_t, std::size_t>& by_hash) {
    auto key = canonical(score);
    const std::size_t hash = hash_of(key.first) * 31 + hash_of(key.second);
    const auto [from, to] = by_hash.equal_range(hash);
    for (auto known = from; known != to; ++known)
      if (keys_[known->second] == key) return known->second;
    by_hash.emplace(hash, terms_.size());
    keys_.push_back(std::move(key));
    terms_.push_back({score});
    return terms_.size() - 1;
  }

  /// The largest score among the terms that are wanted (at least one); with a softcap, one so close to it
  /// that an enclosure does not tell them apart.
  template <class Wanted>
  std::size_t largest_of(Wanted wanted) {
    std::size_t largest = terms_.size();
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      if (!wanted(t)) continue;
      if (largest == terms_.size() || higher(t, largest)) largest = t;
    }
    return largest;
  }
  bool higher(std::size_t s, std::size_t t) {
    if (!capped_) return sign(terms_[s].score.raw - terms_[t].score.raw) > 0;
    return sign(subtract(capped_score(s, first_bits), capped_score(t, first_bits), 2 * first_bits)) > 0;
  }

  // Enclosures.

  /// To an absolute width of about 2^-bits where exp of it is not one-sided.
  enclosure enclosed(const exact_surd& x, unsigned bits) {
    const enclosure rational_part = exactly(x.rational_part());
    if (x.is_rational()) return rational_part;
    const auto to = [&](unsigned working) {
      auto known = roots_.find(working);
      if (known == roots_.end())
        known = roots_.emplace(working, reciprocal_sqrt<growing>(width_, working)).first;
      return add(rational_part, multiply(exactly(x.root_part()), known->second, working), working);
    };
    const enclosure first = to(bits + 64);
    const unsigned lost = detail::bits_lost(first, -std::int64_t{bits});
    return lost == 0 ? first : to(bits + 64 + lost);
  }

  /// cap · tanh(raw / cap) + added to an absolute width below 2^-bits: raw / cap has a relative width of about
  /// 2^-working, and its tanh hardly more than that absolutely, however far raw is beyond the cap.
  const enclosure& capped_score(std::size_t t, unsigned bits) {
    auto& scores = capped_scores_[bits];
    if (scores.size() < terms_.size()) scores.resize(terms_.size());
    if (scores[t]) return *scores[t];
    work_.spent(bits);
    const exact_score& s = terms_[t].score;
    const enclosure added = exactly(s.added);
    if (sign(s.raw) == 0) return scores[t].emplace(added);
    const long top = std::min(top_exponent(*softcap_),
                              std::max(top_exponent(s.raw.rational_part()), top_exponent(s.raw.root_part())));
    const unsigned working = bits + 16 + (top > 0 ? static_cast<unsigned>(top) : 0);
    const enclosure cap = exactly(*softcap_);
    const enclosure ratio = divide(enclosed(s.raw, working), cap, working);
    const enclosure capped = multiply(cap, tanh(ratio, working), working);
    const long added_top = top_exponent(s.added);
    return scores[t].emplace(add(capped, added, working + (added_top > 0 ? static_cast<unsigned>(added_top) : 0)));
  }

  /// e^{α_t - α_reference}.
  const enclosure& exponential(std::size_t reference, std::size_t t, unsigned bits) {
    level& at = levels_[{reference, bits}];
    if (at.exponentials.size() < terms_.size()) at.exponentials.resize(terms_.size());
    std::optional<enclosure>& value = at.exponentials[t];
    if (value) return *value;
    work_.spent(bits);
    if (t == reference) return value.emplace(enclosure::exact(1LL));
    // As in evaluate_exponential: an error of 2^-bits in the exponent, unless exp is one-sided.
    const enclosure exponent =
        capped_ ? subtract(capped_score(t, bits), capped_score(reference, bits), bits + 64)
                : enclosed(terms_[t].score.raw - terms_[reference].score.raw, bits);
    return value.emplace(exp_below_e(exponent, bits));
  }

  // The widths above leave an exponent and a normaliser their signs. Were it otherwise, the next three enclose
  // all the same, so widely that more bits are tried.

  /// e^x for an x of which only members up to 1 count: no score is above the largest but for 2^-first_bits or
  /// so. [0, 4] where the others might not have an exp.
  static enclosure exp_below_e(const enclosure& x, unsigned bits) {
    const interval_end<growing> end = upper(x);
    const bool below = end.negative || end.exponent + static_cast<std::int64_t>(bit_length(end.magnitude)) <= 1;
    return below ? exp(x, bits) : detail::zero_to_power_of_two<growing>(2);
  }

  /// x / Σ n_t e^{α_t - α}, at most |x|, since the largest counts as 1 at least.
  enclosure normalised(const enclosure& x, unsigned bits) {
    const enclosure& sum = normaliser(bits);
    if (sign(sum) > 0) return divide(x, sum, bits);
    const detail::magnitude largest =
        detail::at_least(x.midpoint, x.exponent) + detail::at_least(x.radius, x.exponent);
    return detail::widen(enclosure{}, largest, bits);
  }

  /// ln Σ n_t e^{α_t - α}, in [0, 64] for fewer than 2^64 keys.
  enclosure logarithm_of_normaliser(unsigned bits) {
    const enclosure& sum = normaliser(bits);
    return sign(sum) > 0 ? log(sum, bits) : detail::zero_to_power_of_two<growing>(6);
  }

  const enclosure& normaliser(unsigned bits) {
    level& at = levels_[{largest_, bits}];
    if (at.sum) return *at.sum;
    enclosure sum = enclosure::exact(0LL);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const enclosure& e = exponential(largest_, t, bits);
      sum = add(sum, terms_[t].count == 1 ? e : multiply(enclosure::exact(terms_[t].count), e, bits), bits);
    }
    return at.sum.emplace(sum);
  }

  // What is rounded.

  unbounded_dyadic numerator(std::size_t t, std::size_t column) const {
    const std::vector<std::size_t>& keys = terms_[t].keys;
    if (keys.empty()) return unbounded_dyadic(0);
    if (keys.size() == 1) return dyadic_of((*row_.v)(keys[0], column));
    exact_accumulator sum;
    for (const std::size_t j : keys) sum.add((*row_.v)(j, column));
    return sum.value();
  }

  static unbounded_dyadic times(const unbounded_dyadic& x, std::uint64_t n) {
    return n == 1 ? x : x * unbounded_dyadic(unbounded_integer(n));
  }

  /// The output is Σ_t N_t e^{α_t} / Σ_t n_t e^{α_t}: a rational number, N_0 / n_0, exactly where every N_t /
  /// n_t is the same. The first term that differs, or their number.
  std::size_t proportional(std::size_t column, unbounded_dyadic& first) const {
    first = numerator(0, column);
    for (std::size_t t = 1; t < terms_.size(); ++t)
      if (!(times(numerator(t, column), terms_[0].count) == times(first, terms_[t].count))) return t;
    return terms_.size();
  }

  verdict rational(const unbounded_dyadic& numerator, std::uint64_t denominator, const target& to,
                   const unbounded_dyadic* less) const {
    verdict v;
    v.tier = reference_tier::symbolic;
    bool half_step = false;
    const unbounded_dyadic rest = less == nullptr ? numerator : numerator - times(*less, denominator);
    v.pattern = round_ratio(rest, denominator, to, &half_step);
    v.how = half_step ? certificate::exact : certificate::certified;
    return v;
  }

  /// Σ_t N_t e^{α_t - α}, α the largest.
  enclosure enclosed_sum(const std::vector<unbounded_dyadic>& numerators, unsigned bits) {
    enclosure sum = enclosure::exact(0LL);
    for (std::size_t t = 0; t < terms_.size(); ++t)
      if (sign(numerators[t]) != 0)
        sum = add(sum, multiply(exactly(numerators[t]), exponential(largest_, t, bits), bits), bits);
    work_.spent(bits * terms_.size() / 8);
    return sum;
  }

  /// Σ_t N_t e^{α_t} / Σ_t n_t e^{α_t}, given its enclosures and the numerators.
  template <class Enclose, class Numerators>
  verdict fraction(Enclose enclose, Numerators numerators, const target& to, const unbounded_dyadic* less) {
    // x - b has the sign of Σ_t (N_t - b n_t) e^{α_t}.
    const auto compare = [&](const unbounded_dyadic& b, unsigned& bits) {
      std::vector<unbounded_dyadic> coefficients(terms_.size());
      for (std::size_t t = 0; t < terms_.size(); ++t)
        coefficients[t] = numerators()[t] - times(b, terms_[t].count);
      return sign_of_sum(coefficients, bits);
    };
    return settle(enclose, compare, to, less);
  }

  /// The sign of Σ_t coefficient_t e^{α_t}. Coefficients of zero drop out, and the largest exponent of the
  /// others is factored out: terms that are 2^1000000 times smaller then decide at the first precision.
  /// Without a softcap the sum is zero only if all coefficients are. Nothing at the limit of bits; `bits`
  /// becomes what was needed.
  std::optional<int> sign_of_sum(const std::vector<unbounded_dyadic>& coefficients, unsigned& bits) {
    bool positive = false;
    bool negative = false;
    for (const unbounded_dyadic& c : coefficients) {
      positive = positive || sign(c) > 0;
      negative = negative || sign(c) < 0;
    }
    if (!positive || !negative) return positive ? 1 : negative ? -1 : 0;
    const std::size_t reference = largest_of([&](std::size_t t) { return sign(coefficients[t]) != 0; });
    if (!limits_.max_bits)
      if (const int s = sign_by_moments(coefficients, reference); s != 0) return s;
    for (unsigned working = first_bits;;) {
      enclosure sum = enclosure::exact(0LL);
      for (std::size_t t = 0; t < terms_.size(); ++t)
        if (sign(coefficients[t]) != 0)
          sum = add(sum, multiply(exactly(coefficients[t]), exponential(reference, t, working), working),
                    working);
      work_.spent(working * terms_.size() / 8);
      bits = std::max(bits, working);
      if (const int s = sign(sum); s != 0) return s;
      if (!next(working)) return std::nullopt;
    }
  }

  /// The sign of Σ_t c_t e^{δ_t}, δ_t = α_t - α_reference, where the scores are close: what Ziv's loop finds
  /// with as many bits as they are close, for sums of order p times p. 0 where this does not tell.
  ///
  /// Let δ_t = ρ x_t for all t with c_t != 0, where ρ = 1, or ρ = 1/√d. The sum is Σ_i ρ^i/i! M_i with the
  /// exact moments M_i = Σ_t c_t x_t^i. Let M_p be the first that is not 0, |x_t| < 2^a <= 1/2 and Σ|c_t| <
  /// 2^c. What follows is at most Σ_(i>p) ρ^i/i! 2^(c + a i) <= ρ^(p+1)/(p+1)! 2^(c + a(p+1)) e^(2^a), which
  /// is less than ρ^p/p! 2^(c + a(p+1) + 1): M_p decides where it is at least 2^(c + a(p+1) + 1).
  int sign_by_moments(const std::vector<unbounded_dyadic>& coefficients, std::size_t reference) {
    constexpr int most_moments = 256;
    struct part {
      unbounded_dyadic x;
      unbounded_dyadic product;  // c x^i
    };
    std::vector<part> parts;
    unbounded_dyadic magnitudes;
    bool rational = true, root = true;
    long a = std::numeric_limits<long>::min();
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const unbounded_dyadic& c = coefficients[t];
      if (sign(c) == 0) continue;
      const exact_surd apart = terms_[t].score.raw - terms_[reference].score.raw;
      rational = rational && apart.is_rational();
      root = root && sign(apart.rational_part()) == 0;
      const unbounded_dyadic x = apart.is_rational() ? apart.rational_part() : apart.root_part();
      if (sign(x) != 0) a = std::max(a, top_exponent(x));
      if ((!rational && !root) || a > -1) return 0;
      magnitudes = sign(c) < 0 ? magnitudes - c : magnitudes + c;
      parts.push_back({x, c});
    }
    const long c = top_exponent(magnitudes);
    for (int p = 0; p < most_moments; ++p) {
      unbounded_dyadic moment;
      for (const part& of : parts) moment = moment + of.product;
      if (sign(moment) != 0) return top_exponent(moment) - 1 >= c + a * (p + 1) + 1 ? sign(moment) : 0;
      for (part& of : parts) of.product = of.product * of.x;
      work_.spent(static_cast<std::uint64_t>(p + 1) * parts.size() * first_bits);
    }
    return 0;
  }

  /// α + ln Σ_t n_t e^{α_t - α}, α the largest, in the base.
  ///
  /// Where α = 0 for one key alone, the logarithm is ln(1 + x), x the sum of the others, and may lie as close
  /// to zero as they do. Below 2^-bits it is enclosed without adding the 1: x - x²/2 < ln(1 + x) < x, so it
  /// is in x [1 - x, 1].
  enclosure enclosed_logarithm(log_sum_exp_base base, unsigned bits) {
    const term& top = terms_[largest_];
    enclosure result;
    bool close = false;
    if (top.count == 1 && is_zero(top.score) && terms_.size() > 1) {
      enclosure others = enclosure::exact(0LL);
      for (std::size_t t = 0; t < terms_.size(); ++t)
        if (t != largest_)
          others =
              add(others, multiply(enclosure::exact(terms_[t].count), exponential(largest_, t, bits), bits),
                  bits);
      close = sign(subtract(others, enclosure::exact(1LL, -static_cast<std::int64_t>(bits)), bits)) < 0;
      const enclosure one = enclosure::exact(1LL);
      if (close) result = multiply(others, hull(subtract(one, others, bits), one, bits), bits);
    }
    if (!close) {
      const enclosure& alpha = capped_ ? capped_score(largest_, bits) : enclosed(top.score.raw, bits);
      result = add(alpha, logarithm_of_normaliser(bits), bits);
    }
    return base == log_sum_exp_base::e ? result : divide(result, ln2<growing>(bits), bits);
  }

  /// The sign of the logarithm minus b.
  std::optional<int> compare_logarithm(log_sum_exp_base base, const unbounded_dyadic& b, unsigned& bits) {
    // Base e: of Σ n e^α - e^b. Base 2: of Σ n e^α - 2^b e^0, where 2^b is a number that can be written down.
    exact_score last;
    unbounded_dyadic coefficient(-1);
    bool symbolic = true;
    if (base == log_sum_exp_base::two) {
      symbolic = b.exponent() >= 0 && top_exponent(b) <= 8;
      if (symbolic)
        coefficient = unbounded_dyadic(unbounded_integer(-1),
                                       static_cast<long>(shift_left(b.significand(), b.exponent())));
    } else if (capped_) {
      last.added = b;
    } else {
      last.raw = exact_surd(b);
    }
    if (symbolic) {
      std::vector<unbounded_dyadic> coefficients;
      for (const term& t : terms_) coefficients.emplace_back(unbounded_integer(t.count));
      const auto key = canonical(last);
      std::size_t same = 0;
      while (same < terms_.size() && keys_[same] != key) ++same;
      if (same < terms_.size()) {
        coefficients[same] = coefficients[same] + coefficient;
        return sign_of_sum(coefficients, bits);
      }
      coefficients.push_back(coefficient);
      terms_.push_back({last});
      const std::optional<int> s = sign_of_sum(coefficients, bits);
      terms_.pop_back();
      forget_terms_from(terms_.size());
      return s;
    }
    for (unsigned working = first_bits;;) {
      bits = std::max(bits, working);
      if (const int s = sign(subtract(enclosed_logarithm(base, working), exactly(b), working)); s != 0)
        return s;
      if (!next(working)) return std::nullopt;
    }
  }

  void forget_terms_from(std::size_t end) {
    std::erase_if(levels_, [&](const auto& known) { return known.first.first >= end; });
    for (auto& [key, at] : levels_)
      if (at.exponentials.size() > end) at.exponentials.resize(end);
    for (auto& [bits, scores] : capped_scores_)
      if (scores.size() > end) scores.resize(end);
  }

  /// The next precision, if the limit allows one.
  bool next(unsigned& bits) const {
    const unsigned most = limits_.max_bits ? std::max(*limits_.max_bits, first_bits) : ~0u;
    if (bits >= most) return false;
    bits = bits > most / 2 ? most : 2 * bits;
    return true;
  }

  /// Ziv's loop: enclosures of growing precision, until every member rounds to one value, or one rounding
  /// boundary is left and its side known.
  template <class Enclose, class Compare>
  verdict settle(Enclose enclose, Compare compare, const target& to, const unbounded_dyadic* less) {
    verdict v;
    for (unsigned bits = first_bits;;) {
      v.bits = std::max(v.bits, bits);
      enclosure x = enclose(bits);
      if (less != nullptr) x = subtract(x, exactly(*less), bits);
      const interval_rounding attempt = round_interval(x, *to.to, to.direction);
      v.pattern = attempt.pattern;
      if (attempt.outcome == rounding_outcome::settled) return v;
      if (attempt.outcome == rounding_outcome::boundary && limits_.symbolic) {
        const rounding_boundary& at = attempt.boundary;
        unbounded_dyadic b = dyadic_of({at.negative, at.significand, at.exponent});
        if (less != nullptr) b = b + *less;
        if (const std::optional<int> side = compare(b, v.bits)) {
          v.pattern = *side < 0 ? at.below : *side > 0 ? at.above : at.at;
          v.tier = reference_tier::symbolic;
          return v;
        }
      }
      if (!next(bits)) {
        v.how = certificate::undecided;
        v.lower = decimal_of(lower(x), decimal_rounding::lower);
        v.upper = decimal_of(upper(x), decimal_rounding::upper);
        return v;
      }
    }
  }

  row_view row_;
  row_limits limits_;
  effort& work_;
  std::optional<fixed_row> fixed_;
  std::size_t width_;
  unsigned long long whole_root_;  // √d_k where that is a whole number and the scale 1/√d_k, else 0
  bool capped_ = false;
  std::optional<unbounded_dyadic> scale_;
  std::optional<unbounded_dyadic> softcap_;
  std::optional<unbounded_dyadic> slope_;

  std::vector<term> terms_;  // equal scores merged
  std::vector<std::pair<unbounded_dyadic, unbounded_dyadic>> keys_;
  std::vector<std::size_t> term_of_key_;  // by key - first
  std::size_t largest_ = 0;
  std::map<std::pair<std::size_t, unsigned>, level> levels_;  // by reference and bits
  std::map<unsigned, std::vector<std::optional<enclosure>>> capped_scores_;
  std::map<unsigned, enclosure> roots_;
};

row_engine::row_engine(const row_view& row, const row_limits& limits, effort& work)
    : all_(std::make_unique<implementation>(row, limits, work)) {}
row_engine::~row_engine() = default;

verdict row_engine::output(std::size_t column, const target& to, const unbounded_dyadic* less) {
  return all_->output(column, to, less);
}
verdict row_engine::weight(std::size_t key, const target& to, const unbounded_dyadic* less) {
  return all_->weight(key, to, less);
}
verdict row_engine::log_sum_exp(log_sum_exp_base base, const target& to, const unbounded_dyadic* less) {
  return all_->log_sum_exp(base, to, less);
}

}  // namespace attest::certified
