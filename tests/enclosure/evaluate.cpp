#include <attest/enclosure/evaluate.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

#include <attest/symbolic/print.hpp>

// From symbols to intervals: enclosures contain MPFR's value and are as narrow as promised; signs and
// comparisons are decided, also where the values are nearly or exactly equal; log-sum-exp in both bases.

using attest::compare;
using attest::constant;
using attest::evaluate;
using attest::exp;
using attest::exp_logarithm;
using attest::exp_sum;
using attest::growing;
using attest::log_base;
using attest::ratio;
using attest::root;
using attest::surd;
using attest::unbounded_integer;

namespace {

using big = unbounded_integer;
using dyadic = attest::basic_dyadic<big>;
using rational = attest::basic_rational<big>;

template <class Integer>
constexpr auto r(long n = 1) {
  return exp(surd<Integer>(Integer(n) / root(2)));
}

/// e^(1/√2) = 2.0281149816474724511..; 1414213562373095048 < 10^18 √2 < 1414213562373095049.
template <class Integer>
constexpr bool signs_and_orders_are_decided() {
  const auto x = r<Integer>();
  const auto weight = x / (2 * x + 1);
  const auto below = ratio(Integer(20'281), Integer(10'000));
  const auto above = ratio(Integer(20'282), Integer(10'000));
  const Integer billion(1'000'000'000);
  const Integer quintillion = billion * billion;
  return sign(x - constant(surd<Integer>(2))) == 1 && sign(constant(surd<Integer>(2)) - x) == -1 &&
         sign(x - x) == 0 && compare(x, below) == 1 && compare(x, above) == -1 && compare(below, x) == -1 &&
         compare(weight, ratio(Integer(401'112), Integer(1'000'000))) == 1 &&
         compare(weight, ratio(Integer(401'113), Integer(1'000'000))) == -1 && compare(weight, weight) == 0 &&
         compare(weight + weight, ratio(Integer(1), Integer(1))) == -1 &&
         compare(surd<Integer>(Integer(2) / root(2)),
                 ratio(Integer(1'414'213'562'373'095'048), quintillion)) == 1 &&
         compare(surd<Integer>(Integer(2) / root(2)),
                 ratio(Integer(1'414'213'562'373'095'049), quintillion)) == -1 &&
         compare(Integer(3), Integer(5)) == -1 &&
         // a negative denominator: (-r)/(-1) = r
         compare((-1 * x) / constant(surd<Integer>(-1)), below) == 1 &&
         compare((-1 * x) / constant(surd<Integer>(-1)), above) == -1 &&
         compare(below, (-1 * x) / constant(surd<Integer>(-1))) == -1 &&
         compare((-1 * x) / constant(surd<Integer>(-1)), x / constant(surd<Integer>(1))) == 0;
}

/// With coefficients of one sign nothing is evaluated, however far apart the exponents are.
template <class Integer>
constexpr bool far_exponents_decide_at_once() {
  const auto far = exp(surd<Integer>(Integer(-1'000'000'000'000LL) / root(2)));
  const auto one = constant(surd<Integer>(1));
  return sign(far) == 1 && sign(far + one) == 1 && sign(-1 * far + one) == 1 && sign(-1 * far - one) == -1 &&
         compare(one / (one + far), Integer(1)) == -1 && compare(far / (one + far), Integer(0)) == 1 &&
         compare(far, far + far) == -1;
}

/// p and q with p - q√2 = ±1/(p + q√2), the solutions of p² - 2q² = ±1: parts of 1.27 n bits that cancel to
/// as many bits below 1.
template <class Integer>
constexpr surd<Integer> cancelling(int n) {
  Integer p(1), q(1);
  for (int i = 1; i < n; ++i) {
    const Integer next = p + q + q;
    q = p + q;
    p = next;
  }
  return surd<Integer>((q + q) / root(2)) - surd<Integer>(p);
}
template <class Integer>
constexpr bool an_exponential_of_cancelling_parts_is_narrow() {
  for (const int n : {20, 60, 121}) {
    const auto value = attest::evaluate_exponential<attest::limbs_for<Integer>>(cancelling<Integer>(n), 128);
    if (sign(value) != 1 || width_exponent(value) > -116) return false;
  }
  return true;
}

/// e^(δ) for δ = 2^-64: 1 - 2e^δ + e^2δ = (e^δ - 1)² > 0 although it is about 2^-128, and 1 + δ < e^δ < 1 + δ
/// + δ².
template <class Integer>
constexpr bool close_exponents_are_told_apart() {
  using number = attest::basic_dyadic<Integer>;
  const number delta(Integer(1), -64);
  const auto one = constant(surd<number>(1));
  const auto e = exp(surd<number>(delta));
  const auto e2 = exp(surd<number>(delta + delta));
  return sign(one - 2 * e + e2) == 1 && sign(2 * e - one - e2) == -1 && compare(e, number(1) + delta) == 1 &&
         compare(e, number(1) + delta + delta * delta) == -1;
}

/// ln of one term e^2 is 2; log2 of 8 equal keys of score 0 is 3; 4/√16 = 1 is e's exponent.
template <class Integer>
constexpr bool logarithms_meet_exact_values() {
  const auto two = exp(surd<Integer>(2));
  const auto eight = constant(surd<Integer>(8));
  const auto nine = constant(surd<Integer>(9));
  const exp_logarithm<Integer, 1> ln{two, log_base::e};
  const exp_logarithm<Integer, 1> disguised{exp(surd<Integer>(Integer(4) / root(16))), log_base::e};
  const exp_logarithm<Integer, 1> log2{eight, log_base::two};
  const exp_logarithm<Integer, 1> more{nine, log_base::two};
  const exp_logarithm<Integer, 1> irrational{constant(surd<Integer>(Integer(2) / root(2))), log_base::two};
  const exp_logarithm<Integer, 1> natural{eight, log_base::e};
  return compare(ln, Integer(2)) == 0 && compare(ln, Integer(1)) == 1 && compare(ln, Integer(3)) == -1 &&
         compare(disguised, Integer(1)) == 0 && compare(log2, Integer(3)) == 0 &&
         compare(log2, Integer(2)) == 1 && compare(log2, Integer(4)) == -1 &&
         compare(more, Integer(3)) == 1 && compare(more, ratio(Integer(7), Integer(2))) == -1 &&
         compare(log2, ratio(Integer(5), Integer(2))) == 1 &&
         // √2 = 2/√2 = 2^(1/2)
         compare(irrational, ratio(Integer(1), Integer(2))) == 0 &&
         compare(irrational, ratio(Integer(1), Integer(3))) == 1 &&
         compare(irrational, ratio(Integer(2), Integer(3))) == -1 &&
         // ln 8 = 2.0794..
         compare(natural, ratio(Integer(2079), Integer(1000))) == 1 &&
         compare(natural, ratio(Integer(2080), Integer(1000))) == -1 && compare(natural, Integer(3)) == -1;
}

template <std::size_t Capacity, class X>
void check_enclosure(const X& x, unsigned bits, long width) {
  const reference::real expected = reference::value_of(x, static_cast<mpfr_prec_t>(bits) + 300);
  const auto value = evaluate<Capacity>(x, bits);
  CHECK(contains(value, expected));
  CHECK(relative_width(value, expected) <= width);
}

}  // namespace

TEST_CASE("signs and orders of expressions are decided") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(signs_and_orders_are_decided);
}

TEST_CASE("far exponents decide at once") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(far_exponents_decide_at_once); }

TEST_CASE("close exponents are told apart") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(close_exponents_are_told_apart);
}

TEST_CASE("logarithms meet their exact values in either base") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(logarithms_meet_exact_values);
}

TEST_CASE("the compiler's enclosure of a weight is the one of run time, limb by limb") {
  static constexpr auto weight = r<attest::integer>() / (2 * r<attest::integer>() + 1);
  static constexpr auto in_compiler = evaluate<attest::compiler_limbs>(weight, 192);
  const auto at_run_time = evaluate<attest::compiler_limbs>(weight, 192);
  const auto grown = evaluate<growing>(r<big>() / (2 * r<big>() + 1), 192);
  REQUIRE(in_compiler.midpoint.size == at_run_time.midpoint.size);
  REQUIRE(in_compiler.midpoint.size == grown.midpoint.size);
  for (std::size_t i = 0; i < in_compiler.midpoint.size; ++i) {
    CHECK(in_compiler.midpoint.limbs[i] == at_run_time.midpoint.limbs[i]);
    CHECK(in_compiler.midpoint.limbs[i] == grown.midpoint.limbs[i]);
  }
  CHECK(in_compiler.radius == at_run_time.radius);
  CHECK(in_compiler.radius == grown.radius);
  CHECK(in_compiler.exponent == grown.exponent);
  CHECK(contains(in_compiler, reference::value_of(weight, 500)));
}

TEST_CASE("enclosures of numbers, surds, exponentials and fractions contain MPFR's value and are narrow") {
  testing::random_source random(15'041);
  for (int round = 0; round < 200; ++round) {
    const auto bits = static_cast<unsigned>(random.between(64, 500));
    const auto small = [&] {
      return ratio(big(random.between(-1'000'000, 1'000'000)), big(random.between(1, 1000)));
    };
    const auto d = static_cast<unsigned long long>(random.between(1, 200));
    const rational a = small();
    const rational b = small();
    const surd<rational> s(a, b, d);
    const long bound = -static_cast<long>(bits);
    CAPTURE(bits, attest::to_text(s));
    if (attest::sign(a) != 0) check_enclosure<growing>(a, bits, bound + 8);
    // Each part of a surd is narrow; their sum may cancel up to 40 bits: |a|, |b| < 2^20 and |a + b/√d| >
    // 2^-60 or zero.
    if (sign(s) != 0) check_enclosure<growing>(s, bits, bound + 90);
    const surd<rational> exponent(ratio(big(random.between(-400, 400)), big(random.between(1, 9))),
                                  ratio(big(random.between(-400, 400)), big(random.between(1, 9))), d);
    CAPTURE(attest::to_text(exponent));
    const reference::real e = exp(reference::value_of(exponent, static_cast<mpfr_prec_t>(bits) + 300));
    const auto exponential = attest::evaluate_exponential<growing>(exponent, bits);
    CHECK(contains(exponential, e));
    CHECK(relative_width(exponential, e) <= bound + 12);
    exp_sum<rational, attest::dynamic> sum;
    for (int k = 0; k < 3; ++k)
      sum.add(surd<rational>(attest::absolute(small()) + ratio(big(1), big(1))),
              surd<rational>(ratio(big(random.between(-50, 50)), big(3)),
                             ratio(big(random.between(-9, 9)), big(1)), d));
    check_enclosure<growing>(sum, bits, bound + 14);
    check_enclosure<growing>(constant(surd<rational>(1)) / sum, bits, bound + 18);
    check_enclosure<growing>(exp_logarithm<rational, attest::dynamic>{sum, log_base::e}, bits, bound + 24);
    check_enclosure<growing>(exp_logarithm<rational, attest::dynamic>{sum, log_base::two}, bits, bound + 24);
  }
}

TEST_CASE("fixed storage encloses what growing storage does") {
  testing::random_source random(15'042);
  using attest::integer;
  for (int round = 0; round < 200; ++round) {
    exp_sum<integer, 3> sum;
    exp_sum<big, 3> same;
    for (int k = 0; k < 3; ++k) {
      const long c = random.between(1, 1000);
      const long e = random.between(-1000, 1000);
      sum.add(surd<integer>(integer(c)), integer(e) / root(7));
      same.add(surd<big>(big(c)), big(e) / root(7));
    }
    CAPTURE(attest::to_text(sum));
    const auto fixed = evaluate<attest::compiler_limbs>(sum / (sum + 1), 256);
    const auto grown = evaluate<growing>(same / (same + 1), 256);
    const reference::real expected = reference::value_of(same / (same + 1), 4000);
    CHECK(contains(fixed, expected));
    CHECK(contains(grown, expected));
    CHECK(relative_width(fixed, expected) <= -236);
  }
}

TEST_CASE("a number too long for fixed storage is enclosed") {
  // Ten limbs less one for the carry hold 576 bits.
  using wide = attest::fixed_integer<1100>;
  const wide x = attest::shift_left(wide(1), 1050) + wide(12345);
  const auto value = evaluate<attest::compiler_limbs>(x, 192);
  CHECK(contains(value, reference::value_of(x, 2000)));
  CHECK(relative_width(value, reference::value_of(x, 2000)) <= -180);
}

TEST_CASE("exponentials of every size are enclosed, those past all bounds one-sidedly") {
  for (const long n : {1L, -1L, 700L, -700L, 1'000'000L, -1'000'000L, 1'000'000'000L, -1'000'000'000L,
                       1'000'000'000'000L, -1'000'000'000'000L}) {
    CAPTURE(n);
    const auto value = attest::evaluate_exponential<growing>(surd<big>(big(n) / root(3)), 100);
    const reference::real expected = exp(reference::over_root(reference::real(n, 300), 3));
    CHECK(contains(value, expected));
    CHECK(sign(value) == 1);
    CHECK(relative_width(value, expected) <= -84);
  }
  const auto tiny = attest::evaluate_exponential<growing>(surd<big>(big(-100'000'000'000'000L)),
                                                          100);  // e^-10^14 < 2^-2^46
  CHECK(sign(tiny) == 0);
  CHECK(lower(tiny).magnitude.size == 0);
  CHECK(reference::value_of(upper(tiny)).sign() == 1);
  CHECK_THROWS_AS(attest::evaluate_exponential<growing>(surd<big>(big(100'000'000'000'000L)), 100),
                  std::overflow_error);
}

TEST_CASE("an exponential keeps its width where the parts of the exponent cancel") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(an_exponential_of_cancelling_parts_is_narrow);
  for (const int n : {2, 40, 90, 150, 240, 1000}) {
    CAPTURE(n);
    const auto x = cancelling<big>(n);
    const auto value = attest::evaluate_exponential<growing>(x, 128);
    const auto expected = exp(reference::value_of(x, 6000));
    CHECK(contains(value, expected));
    CHECK(relative_width(value, expected) <= -116);
  }
  // What its parts leave is known well enough where nothing is left of the exponential.
  const auto shift = attest::shift_left(big(1), 900);
  const auto tiny = attest::evaluate_exponential<growing>(cancelling<big>(1000) - surd<big>(shift), 128);
  CHECK(lower(tiny).magnitude.size == 0);
  CHECK(sign(tiny) == 0);
}

TEST_CASE("a fraction and a logarithm of far exponents are evaluated next to the largest") {
  // Scores past every exponent range of their own: e^(10^14) / (e^(10^14) + e^(10^14 - 1)) = 1/(1 + 1/e).
  const auto top = exp(surd<big>(big(100'000'000'000'000L)));
  const auto next = exp(surd<big>(big(99'999'999'999'999L)));
  const reference::real one(1, 600);
  const reference::real inverse = exp(reference::real(-1, 600));
  const auto value = evaluate<growing>(top / (top + next), 200);
  CHECK(contains(value, one / (one + inverse)));
  CHECK(relative_width(value, one) <= -180);
  const auto logarithm = evaluate<growing>(exp_logarithm<big, 2>{top + next, log_base::e}, 200);
  CHECK(contains(logarithm, reference::real(100'000'000'000'000L, 600) + log(one + inverse)));
}

TEST_CASE("a sign is decided next to the largest exponent, wherever that is") {
  for (const long size : {100'000'000'000'000L, -100'000'000'000'000L}) {
    const auto top = exp(surd<big>(big(size)));
    const auto next = exp(surd<big>(big(size - 1)));
    CAPTURE(size);
    CHECK(sign(top - 2 * next) == 1);   // 2/e < 1
    CHECK(sign(top - 3 * next) == -1);  // 3/e > 1
    CHECK(sign(3 * next - top) == 1);
    CHECK(compare(top / next, big(2)) == 1);
    CHECK(compare(top / next, big(3)) == -1);
  }
}

TEST_CASE("a denominator whose terms nearly cancel is evaluated until it leaves zero") {
  // e^δ - 1 for δ = 2^-400, in the denominator: 1 / (δ + δ²/2 + ..)
  const dyadic delta(big(1), -400);
  const auto small = exp(surd<dyadic>(delta)) - constant(surd<dyadic>(1));
  const auto value = evaluate<growing>(constant(surd<dyadic>(1)) / small, 100);
  CHECK(contains(value, reference::real(1, 1500) / reference::value_of(small, 1500)));
  CHECK(sign(value) == 1);
}

TEST_CASE("the near ties of close exponents are decided") {
  const dyadic one(1);
  const auto unit = constant(surd<dyadic>(1));
  // Scores 0 and 2^-2148: e^δ against 1 + δ and 1 + δ + δ².
  const dyadic delta(big(1), -2148);
  const auto e = exp(surd<dyadic>(delta));
  const auto e2 = exp(surd<dyadic>(delta + delta));
  CHECK(compare(e, one) == 1);
  CHECK(compare(e, one + delta) == 1);
  CHECK(compare(e, one + delta + delta * delta) == -1);
  // 1 - 2e^δ + e^2δ = (e^δ - 1)², about 2^-4296.
  CHECK(sign(unit - 2 * e + e2) == 1);
  CHECK(sign(2 * e - unit - e2) == -1);
}

TEST_CASE("fixed storage says when it is exhausted and never guesses") {
  using fixed = attest::dyadic;
  const fixed delta(attest::integer(1), -450);
  const auto e = exp(surd<fixed>(delta));
  const auto e2 = exp(surd<fixed>(delta + delta));
  CHECK(sign(e - constant(surd<fixed>(1))) == 1);
  CHECK_THROWS_AS(sign(constant(surd<fixed>(1)) - 2 * e + e2), std::overflow_error);
}

TEST_CASE("near log-sum-exps are decided in both bases") {
  const rational tiny = ratio(big(1), attest::shift_left(big(1), 300));
  const exp_logarithm<rational, 1> eight{constant(surd<rational>(8)), log_base::two};
  CHECK(compare(eight, rational(ratio(big(3), big(1)) + tiny)) == -1);
  CHECK(compare(eight, rational(ratio(big(3), big(1)) - tiny)) == 1);
  CHECK(compare(eight, ratio(big(3), big(1))) == 0);
  const exp_logarithm<rational, 1> above{constant(surd<rational>(rational(ratio(big(8), big(1)) + tiny))),
                                         log_base::two};
  CHECK(compare(above, ratio(big(3), big(1))) == 1);
  const exp_logarithm<rational, 1> single{exp(surd<rational>(ratio(big(5), big(7)))), log_base::e};
  CHECK(compare(single, ratio(big(5), big(7))) == 0);
  CHECK(compare(single, rational(ratio(big(5), big(7)) + tiny)) == -1);
  CHECK(compare(single, rational(ratio(big(5), big(7)) - tiny)) == 1);
  // A key far below: ln(e^0 + e^-1000) > 0, by about e^-1000.
  const auto far = constant(surd<rational>(1)) + exp(surd<rational>(-1000));
  CHECK(compare(exp_logarithm<rational, 2>{far, log_base::e}, big(0)) == 1);
  CHECK(compare(exp_logarithm<rational, 2>{far, log_base::two}, big(0)) == 1);
  CHECK(compare(exp_logarithm<rational, 2>{far, log_base::e}, tiny) == -1);  // e^-1000 < 2^-1442
  // -ln 2 = ln(1/2) and log2(1/2) = -1; log2(1/√2) = -1/2
  CHECK(compare(exp_logarithm<rational, 1>{constant(surd<rational>(ratio(big(1), big(2)))), log_base::two},
                big(-1)) == 0);
  CHECK(compare(exp_logarithm<big, 1>{constant(surd<big>(big(1) / root(2))), log_base::two},
                ratio(big(-1), big(2))) == 0);
  CHECK(compare(exp_logarithm<big, 1>{constant(surd<big>(big(1) / root(2))), log_base::two}, big(-1)) == 1);
  // A positive exponent for base 2: e^(1/2) = 2^0.7213..
  const exp_logarithm<rational, 1> half{exp(surd<rational>(ratio(big(1), big(2)))), log_base::two};
  CHECK(compare(half, ratio(big(7213), big(10'000))) == 1);
  CHECK(compare(half, ratio(big(7214), big(10'000))) == -1);
}

TEST_CASE("the logarithm of a sum that is not positive is an error") {
  CHECK_THROWS_AS((evaluate<growing>(exp_logarithm<big, 1>{constant(surd<big>(-1)), log_base::e}, 100)),
                  std::domain_error);
  CHECK_THROWS_AS((evaluate<growing>(exp_logarithm<big, 1>{exp_sum<big, 1>(), log_base::two}, 100)),
                  std::domain_error);
  CHECK_THROWS_AS(
      (evaluate<growing>(exp_logarithm<big, 2>{constant(surd<big>(2)) - r<big>(), log_base::e}, 100)),
      std::domain_error);
}

TEST_CASE("random comparisons agree with MPFR") {
  testing::random_source random(15'043);
  for (int round = 0; round < 500; ++round) {
    const auto weight = [&] {
      exp_sum<big, 3> sum;
      for (int k = 0; k < 3; ++k) sum.add(surd<big>(1), big(random.between(-3, 3)) / root(2));
      return exp(surd<big>(big(random.between(-3, 3)) / root(2))) / sum;
    };
    const auto x = weight();
    const auto y = weight();
    CAPTURE(attest::to_text(x), attest::to_text(y));
    const reference::real difference = reference::value_of(x, 500) - reference::value_of(y, 500);
    const bool zero = mpfr_zero_p(difference.get()) != 0 || mpfr_get_exp(difference.get()) < -400;
    CHECK(compare(x, y) == (zero ? 0 : difference.sign()));
    CHECK(attest::equals(x, y) == zero);
  }
}

TEST_CASE("log2 of a large power of two is exact, beside any exponent", "[evaluate]") {
  const auto log2_of = [](const surd<rational>& c) {
    return exp_logarithm<rational, 1>{constant(c), log_base::two};
  };
  const rational large = ratio(attest::shift_left(big(1), 1000), big(1));
  CHECK(compare(log2_of(surd<rational>(large)), ratio(big(1000), big(1))) == 0);
  CHECK(compare(log2_of(surd<rational>(large)), ratio(big(2001), big(2))) < 0);
  CHECK(compare(log2_of(surd<rational>(rational(big(1)) / large)), ratio(big(-1000), big(1))) == 0);
  const surd<rational> with_root(rational(big(0)), rational(big(2)) * large,
                                 2);  // 2^1000 · 2/√2 = 2^(2001/2)
  CHECK(compare(log2_of(with_root), ratio(big(2001), big(2))) == 0);
  CHECK(compare(log2_of(with_root), ratio(big(1999), big(2))) > 0);
}

TEST_CASE("a logarithm of a sum that is not positive is not compared", "[evaluate]") {
  const auto log_of = [](int c, log_base base) {
    return exp_logarithm<rational, 1>{constant(surd<rational>(rational(big(c)))), base};
  };
  for (const log_base base : {log_base::e, log_base::two})
    for (const int c : {0, -1})
      CHECK_THROWS_AS(compare(log_of(c, base), rational(big(0))), std::domain_error);
}
