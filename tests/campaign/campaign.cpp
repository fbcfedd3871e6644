// Certified values against MPFR, and against Arb where it is installed, over every family of inputs, lengths
// from 1 to 2048 and widths from 1 to 256; then hard rows with answers by arithmetic.
//
//   attest_campaign [ELEMENTS [SEED]]   elements to compare, 1000000 by default; 0 on success, 1 when
//   something was wrong

#include "reference/certified_cases.hpp"
#include "reference/certified_hard.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#ifdef ATTEST_WITH_ARB
#include <arb.h>
#endif

using namespace certified_cases;

namespace {

constexpr dtype types[] = {dtype::binary64, dtype::binary64, dtype::binary64,     dtype::binary32,
                           dtype::binary16, dtype::bfloat16, dtype::float8_e4m3fn};
constexpr rounding directions[] = {rounding::nearest_even, rounding::nearest_even, rounding::nearest_even,
                                   rounding::toward_zero,  rounding::up,           rounding::down};

/// Every length from 1 to 160 in turn, then longer ones with every remainder by 64.
std::size_t length(std::size_t turn, generator& g) {
  if (turn % 3 != 2) return 1 + turn % 160;
  constexpr std::size_t longer[] = {256, 512, 1024, 1984};
  return longer[g() % 4] + g() % 65;
}

#ifdef ATTEST_WITH_ARB

/// The outputs of row i in a second arithmetic: Arb's balls, whose radii are bounds.
class arb_row {
 public:
  arb_row(const head& h, std::size_t i, slong precision) : h_(h), precision_(precision) {
    weights_ = _arb_vec_init(static_cast<slong>(h.keys + 1));
    arb_t scale, x;
    arb_init(scale);
    arb_init(x);
    arb_init(total_);
    if (h.scale) {
      arb_set_d(scale, *h.scale);
    } else {
      arb_set_ui(scale, h.width);
      arb_rsqrt(scale, scale, exact);
    }
    for (std::size_t j = 0; j < h.keys; ++j) {
      if (!h.sees(i, j)) continue;
      arb_ptr s = weights_ + j;
      for (std::size_t c = 0; c < h.width; ++c) {
        arb_t y;
        arb_init(y);
        arb_set_d(x, h.q[i * h.width + c]);
        arb_set_d(y, h.k[j * h.width + c]);
        arb_addmul(s, x, y, exact);
        arb_clear(y);
      }
      arb_mul(s, s, scale, exact);
      if (!h.bias.empty()) {
        arb_set_d(x, h.bias[i * h.keys + j]);
        arb_add(s, s, x, exact);
      }
      if (h.slope) {
        arb_set_d(x, *h.slope);
        arb_mul_si(x, x, std::labs(h.position(i) - static_cast<long>(j)), exact);
        arb_sub(s, s, x, exact);
      }
      seen_.push_back(j);
    }
    if (h.sink) {
      arb_set_d(weights_ + h.keys, *h.sink);
      seen_.push_back(h.keys);
    }
    std::size_t top = seen_[0];
    for (const std::size_t j : seen_)
      if (arf_cmp(arb_midref(weights_ + j), arb_midref(weights_ + top)) > 0) top = j;
    arb_t largest;
    arb_init(largest);
    arb_set(largest, weights_ + top);
    for (const std::size_t j : seen_) {
      arb_sub(weights_ + j, weights_ + j, largest, exact);
      arb_exp(weights_ + j, weights_ + j, precision_);
      arb_add(total_, total_, weights_ + j, precision_);
    }
    arb_clear(largest);
    arb_clear(scale);
    arb_clear(x);
  }
  ~arb_row() {
    _arb_vec_clear(weights_, static_cast<slong>(h_.keys + 1));
    arb_clear(total_);
  }
  arb_row(const arb_row&) = delete;
  arb_row& operator=(const arb_row&) = delete;

  /// The pattern, if the ball rounds to one.
  std::optional<std::uint64_t> output(std::size_t c, const attest::format& f, rounding direction) const {
    arb_t sum, v;
    arb_init(sum);
    arb_init(v);
    for (const std::size_t j : seen_) {
      if (j == h_.keys) continue;
      arb_set_d(v, h_.v[j * h_.value_width + c]);
      arb_addmul(sum, v, weights_ + j, precision_);
    }
    arb_div(sum, sum, total_, precision_);
    oracle::real low(precision_ + 64), high(precision_ + 64);
    arb_get_interval_mpfr(low.get(), high.get(), sum);
    arb_clear(sum);
    arb_clear(v);
    const std::uint64_t a = oracle::round_to_format(low.get(), f, direction),
                        b = oracle::round_to_format(high.get(), f, direction);
    if (a != b) return std::nullopt;
    return a;
  }

 private:
  static constexpr slong exact = 8800;  // sums and products of doubles, and 4400 bits of 1/√d
  const head& h_;
  slong precision_;
  arb_ptr weights_;
  arb_t total_;
  std::vector<std::size_t> seen_;
};

/// Some outputs of some rows against Arb.
tally check_with_arb(const head& h, const request& r, const answer& a, std::size_t step) {
  tally t;
  attest::format f = *attest::format_of(r.type);
  if (r.saturate) f.infinity = f.largest;
  for (std::size_t i = 0; i < h.queries; i += step) {
    if (h.empty(i)) continue;
    const arb_row row(h, i, 256);
    for (std::size_t c = i % 3; c < h.value_width; c += 3) {
      std::optional<std::uint64_t> want = row.output(c, f, r.direction);
      if (!want) continue;  // for MPFR at a higher precision, or exact
      ++t.elements;
      const std::uint64_t got = pattern_at(a.output, i * h.value_width + c, r.type);
      if (got == *want) continue;
      ++t.wrong;
      if (t.first_wrong.empty())
        t.first_wrong = "Arb: output of row " + std::to_string(i) + ", column " + std::to_string(c) + ": " +
                        std::to_string(got) + " instead of " + std::to_string(*want);
    }
  }
  return t;
}

#endif

}  // namespace

int main(int count, char** arguments) {
  const std::size_t wanted = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000000;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  if (wanted == 0) {
    std::fprintf(stderr, "usage: attest_campaign [ELEMENTS [SEED]]\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  generator g(seed);
  constexpr std::size_t kinds = std::size(families);
  tally of_family[kinds], arb, all;
  std::array<std::size_t, 4> settled{};
  for (std::size_t turn = 0; all.elements < wanted; ++turn) {
    const family f = families[turn % kinds];
    const std::size_t keys = length(turn / kinds, g);
    head h = make(f, g, 1 + g() % 5, keys, 1 + g() % (turn % 7 == 0 ? 256 : 80), 1 + g() % 96);
    add_options(h, g);
    if (turn % 3 != 0) h.mask.clear(), h.bias.clear();
    request r;
    r.type = types[g() % std::size(types)];
    r.direction = directions[g() % std::size(directions)];
    r.low_words = g() % 4 == 0;
    r.weights = keys < 200 && g() % 4 == 0;
    if (g() % 4 == 0)
      r.log_sum_exp = g() % 2 == 0 ? attest::log_sum_exp_base::e : attest::log_sum_exp_base::two;
    const answer a = ask(h, r);
    for (std::size_t t = 0; t < 4; ++t) settled[t] += a.settled.settled[t];
    const tally t = check(h, r, a, 1 + keys / 700);
    of_family[turn % kinds] += t;
    all += t;
#ifdef ATTEST_WITH_ARB
    if (turn % 5 == 0) arb += check_with_arb(h, r, a, 1 + keys / 700);
#endif
    if (t.wrong != 0)
      std::printf("wrong: turn %zu of seed %llu, %s, %zu keys, %s: %s\n", turn,
                  static_cast<unsigned long long>(seed), name(f), keys, attest::to_string(r.type).c_str(),
                  t.first_wrong.c_str());
    if (turn % 200 == 199)
      std::printf("%zu elements, %.0f s\n", all.elements, seconds()), std::fflush(stdout);
  }
  std::printf("\n%-14s %10s %7s %9s %9s %10s\n", "inputs", "elements", "wrong", "exact", "undecided",
              "not by MPFR");
  for (std::size_t n = 0; n < kinds; ++n)
    std::printf("%-14s %10zu %7zu %9zu %9zu %10zu\n", name(families[n]), of_family[n].elements,
                of_family[n].wrong, of_family[n].exact, of_family[n].undecided, of_family[n].beyond);
  std::printf("%-14s %10zu %7zu %9zu %9zu %10zu\n", "all", all.elements, all.wrong, all.exact, all.undecided,
              all.beyond);
  std::printf("settled by: doubles %zu, pairs %zu, enclosures %zu, symbols %zu\n", settled[0], settled[1],
              settled[2], settled[3]);
#ifdef ATTEST_WITH_ARB
  std::printf("against Arb: %zu outputs, %zu wrong %s\n", arb.elements, arb.wrong, arb.first_wrong.c_str());
#else
  std::printf("Arb is not installed\n");
#endif
  std::size_t hard_wrong = 0;
  const std::size_t hard = std::max<std::size_t>(wanted / 50, 1000);
  for (std::size_t n = 0; n < hard; ++n)
    if (!certified_hard::right(n % 2 == 0 ? certified_hard::far(g) : certified_hard::close(g))) ++hard_wrong;
  std::printf("hard rows: %zu, %zu wrong\n%.0f s\n", hard, hard_wrong, seconds());
  return all.wrong + arb.wrong + hard_wrong == 0 && all.undecided == 0 ? 0 : 1;
}
