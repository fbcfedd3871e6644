#include "methods.hpp"

#include <attest/enclosure/evaluate.hpp>
#include <attest/enclosure/printed.hpp>
#include <attest/exact/projections.hpp>
#include <attest/exact/scores.hpp>
#include <attest/kernel/error_bound.hpp>
#include <attest/kernel/naive.hpp>
#include <attest/kernel/stable.hpp>
#include <attest/reference/high_precision.hpp>
#include <attest/rounding/rounding_test.hpp>
#include <attest/symbolic/print.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>

namespace bench {

namespace {

using namespace attest;

std::string shortest(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return {text, end};
}

std::string place(const char* array, std::size_t i, std::size_t j) {
  return std::string(array) + '[' + std::to_string(i) + ", " + std::to_string(j) + ']';
}

// The double next to x, away from zero.
double neighbour(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) + 1); }

/// f(array, i, j, certified) over the weights and then the outputs; f says what is wrong, or nothing.
template <class F>
std::string for_each_number(const head& h, F f) {
  for (std::size_t i = 0; i < h.tokens; ++i)
    for (std::size_t j = 0; j < h.tokens; ++j)
      if (std::string wrong = f("weights", i, j, h.weights[i * h.tokens + j]); !wrong.empty())
        return place("weights", i, j) + ": " + wrong;
  for (std::size_t i = 0; i < h.tokens; ++i)
    for (std::size_t c = 0; c < h.value_width; ++c)
      if (std::string wrong = f("output", i, c, h.output[i * h.value_width + c]); !wrong.empty())
        return place("output", i, c) + ": " + wrong;
  return {};
}

bool is_weight(const char* array) { return array[0] == 'w'; }

std::string same_bits(double x, double certified) {
  if (std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(certified)) return {};
  return shortest(x) + ", and the certified value is " + shortest(certified);
}

template <exact_number T>
matrix<T> exact(const std::vector<int>& elements, std::size_t rows, std::size_t columns) {
  matrix<T> m(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      m(i, j) = exact_cast<T>(unbounded_integer(elements[i * columns + j]));
  return m;
}

template <exact_number T>
std::string compare_exactly(const char* array, const matrix<T>& m, const std::vector<int>& wanted) {
  for (std::size_t i = 0; i < m.rows(); ++i)
    for (std::size_t j = 0; j < m.columns(); ++j)
      if (!(m(i, j) == exact_cast<T>(unbounded_integer(wanted[i * m.columns() + j]))))
        return place(array, i, j) + ": not " + std::to_string(wanted[i * m.columns() + j]);
  return {};
}

// --- Q, K, V and D from X and the W ------------------------------------------------------------------------------

template <exact_number T>
method exact_products(const head& h, const char* name) {
  using arrays = attest::head<matrix<T>, matrix<T>, matrix<T>>;
  struct state {
    matrix<T> x, wq, wk, wv;
    std::optional<arrays> qkv;
    matrix<T> dots;
  };
  const auto s = std::make_shared<state>();
  s->x = exact<T>(h.x, h.tokens, h.channels);
  s->wq = exact<T>(h.wq, h.channels, h.key_width);
  s->wk = exact<T>(h.wk, h.channels, h.key_width);
  s->wv = exact<T>(h.wv, h.channels, h.value_width);
  method m{name, "Q, K, V, D, exactly", 0, 0, {}, {}, {}};
  m.numbers = h.q.size() + h.k.size() + h.v.size() + h.dots.size();
  m.run = [s] {
    s->qkv = projections(s->x, s->wq, s->wk, s->wv);
    s->dots = scores(s->qkv->queries, s->qkv->keys);
  };
  m.check = [s, &h] {
    for (const std::string& wrong :
         {compare_exactly("Q", s->qkv->queries, h.q), compare_exactly("K", s->qkv->keys, h.k),
          compare_exactly("V", s->qkv->values, h.v), compare_exactly("D", s->dots, h.dots)})
      if (!wrong.empty()) return wrong;
    return std::string();
  };
  m.spoil = [s] { s->dots(s->dots.rows() - 1, 0) = s->dots(s->dots.rows() - 1, 0) + T(1); };
  return m;
}

// --- expressions, from D and V -----------------------------------------------------------------------------------

using number = unbounded_dyadic;
using all_outputs = outputs<number, dynamic, dynamic, dynamic>;

all_outputs expressions(const head& h) {
  const auto dots = exact<number>(h.dots, h.tokens, h.tokens);
  return softmax(dots / root(h.key_width)) * exact<number>(h.v, h.tokens, h.value_width);
}

method symbolic_rows(const head& h) {
  struct state {
    matrix<surd<number>> scores;
    matrix<number> values;
    std::vector<exp_row<number, dynamic, 1, dynamic>> weights;
    std::vector<exp_row<number, dynamic, dynamic, dynamic>> output;
  };
  const auto s = std::make_shared<state>();
  s->scores = exact<number>(h.dots, h.tokens, h.tokens) / root(h.key_width);
  s->values = exact<number>(h.v, h.tokens, h.value_width);
  method m{"symbolic rows", "rows of weights and outputs in r", 0, h.numbers(), {}, {}, {}};
  m.run = [s] {
    s->weights.clear();
    s->output.clear();
    const all_outputs all = softmax(s->scores) * s->values;
    for (std::size_t i = 0; i < all.rows(); ++i) {
      s->weights.push_back(all.row_weights().row(i));
      s->output.push_back(all.row(i));
    }
  };
  m.check = [s, &h] {
    return for_each_number(h, [&](const char* array, std::size_t i, std::size_t j, double certified) {
      const std::uint64_t bits = is_weight(array) ? round_correctly(s->weights[i](0, j), formats::binary64)
                                                  : round_correctly(s->output[i](0, j), formats::binary64);
      return same_bits(std::bit_cast<double>(bits), certified);
    });
  };
  m.spoil = [s] { std::swap(s->output[0], s->output[1]); };
  return m;
}

method symbolic_equality(const head& h) {
  struct state {
    all_outputs all;
    std::size_t equal_pairs = 0;
  };
  const auto s = std::make_shared<state>(state{expressions(h)});
  method m{"symbolic equality", "every two weights of a row: equal?", 0, 0, {}, {}, {}};
  m.numbers = h.tokens * h.tokens * (h.tokens - 1) / 2;
  m.run = [s] {
    s->equal_pairs = 0;
    const auto& weights = s->all.row_weights();
    for (std::size_t i = 0; i < weights.rows(); ++i) {
      const auto row = weights.row(i);
      for (std::size_t j = 0; j < row.columns(); ++j)
        for (std::size_t l = j + 1; l < row.columns(); ++l)
          if (row(0, j) == row(0, l)) ++s->equal_pairs;
    }
  };
  m.check = [s, &h] {
    std::size_t wanted = 0;  // equal weights have equal dot products
    for (std::size_t i = 0; i < h.tokens; ++i)
      for (std::size_t j = 0; j < h.tokens; ++j)
        for (std::size_t l = j + 1; l < h.tokens; ++l)
          if (h.dots[i * h.tokens + j] == h.dots[i * h.tokens + l]) ++wanted;
    if (s->equal_pairs == wanted) return std::string();
    return std::to_string(s->equal_pairs) + " equal pairs of weights, and there are " + std::to_string(wanted);
  };
  m.spoil = [s] { ++s->equal_pairs; };
  return m;
}

// --- enclosures, from the expressions ----------------------------------------------------------------------------

method enclosures(const head& h, unsigned bits) {
  using row = list<interval<growing>, dynamic>;
  struct state {
    all_outputs all;
    std::vector<row> weights;
    std::vector<row> output;
  };
  const auto s = std::make_shared<state>(state{expressions(h), {}, {}});
  // Of `bits` working bits, 16 are given away: exponentials lose 8, sums of up to 16 terms and a quotient the rest.
  const long widest = -static_cast<long>(bits) + 16;
  method m{"enclosures, " + std::to_string(bits) + " bits", "intervals around weights and outputs",
           static_cast<double>(-widest) * std::log10(2.0), h.numbers(), {}, {}, {}};
  m.run = [s, bits] {
    s->weights.clear();
    s->output.clear();
    for (std::size_t i = 0; i < s->all.rows(); ++i) {
      s->weights.push_back(evaluate_row<growing>(s->all.row_weights(), i, bits));
      s->output.push_back(evaluate_row<growing>(s->all, i, bits));
    }
  };
  m.check = [s, &h, widest] {
    const double values = std::abs(*std::max_element(
        h.v.begin(), h.v.end(), [](int a, int b) { return std::abs(a) < std::abs(b); }));
    return for_each_number(h, [&](const char* array, std::size_t i, std::size_t j, double certified) {
      const interval<growing>& x = (is_weight(array) ? s->weights : s->output)[i][j];
      const long scale = is_weight(array) ? 0 : static_cast<long>(std::ceil(std::log2(values)));
      if (!is_exact(x) && width_exponent(x) > widest + scale)
        return "as wide as 2^" + std::to_string(width_exponent(x)) + ", and it should not pass 2^" +
               std::to_string(widest + scale);
      const interval_rounding r = round_interval(x, formats::binary64, rounding::nearest_even);
      if (r.outcome != rounding_outcome::settled) return std::string("does not round to one binary64");
      return same_bits(std::bit_cast<double>(r.pattern), certified);
    });
  };
  m.spoil = [s] {
    // Wider by a digit more than is allowed.
    interval<growing>& x = s->weights[0][0];
    x.radius = (x.radius + 1) << 20;
  };
  return m;
}

// --- the reference library, from X and the W ---------------------------------------------------------------------

method reference(const head& h, unsigned digits) {
  struct state {
    problem p;
    attention_reference answer;
  };
  const auto s = std::make_shared<state>(state{problem_of(h), {}});
  method m{"reference, " + std::to_string(digits) + " digits", "all of a reference file, correctly rounded",
           static_cast<double>(digits), h.numbers(), {}, {}, {}};
  m.run = [s, digits] { s->answer = attention(s->p, {digits, {}}); };
  m.check = [s, &h, digits] {
    return for_each_number(h, [&](const char* array, std::size_t i, std::size_t j, double certified) {
      const reference_value& x = is_weight(array) ? s->answer.weights(i, j) : s->answer.output(i, j);
      if (std::string wrong = same_bits(x.nearest, certified); !wrong.empty() || digits <= 17) return wrong;
      // The exact value rounded to 17 digits may read back as the double next to the right one; not so to 50.
      double read = 0;
      std::from_chars(x.decimal.data(), x.decimal.data() + x.decimal.size(), read);
      return same_bits(read, certified);
    });
  };
  m.spoil = [s] { s->answer.output(0, 0).nearest = neighbour(s->answer.output(0, 0).nearest); };
  return m;
}

// Every operation of cpp_bin_float is within an ulp but exp, of which 1000 ulp are assumed here (Boost states no bound; 522
// is the worst seen at 200 bits): of its 50 digits, 45 are counted on.
constexpr int checked_digits = 45;

// The library's own way through cpp_bin_float, which cross-checks the reference: exact exponents, then floats.
method cross_check_floats(const head& h) {
  struct state {
    problem p;
    float_attention answer;
  };
  const auto s = std::make_shared<state>(state{problem_of(h), {}});
  method m{"attention_in_floats, 50", "weights, outputs, log-sum-exps", checked_digits, h.numbers(), {}, {}, {}};
  m.run = [s] { s->answer = attention_in_floats(s->p, 50); };
  m.check = [s, &h] {
    return for_each_number(h, [&](const char* array, std::size_t i, std::size_t j, double certified) {
      const std::string& decimal = is_weight(array) ? s->answer.weights(i, j) : s->answer.output(i, j);
      double read = 0;
      std::from_chars(decimal.data(), decimal.data() + decimal.size(), read);
      return same_bits(read, certified);
    });
  };
  m.spoil = [s] {
    // One digit, the twelfth or so.
    char& digit = s->answer.output(0, 0).at(13);
    digit = digit == '9' ? '8' : static_cast<char>(digit + 1);
  };
  return m;
}

// --- floating point, from Q, K and V -----------------------------------------------------------------------------

// The formula in cpp_bin_float as anyone would write it, the largest score subtracted.

method high_precision(const head& h) {
  using real = boost::multiprecision::cpp_bin_float_50;
  struct state {
    std::vector<real> weights;
    std::vector<real> output;
  };
  const auto s = std::make_shared<state>();
  method m{"cpp_bin_float, 50 digits", "weights and outputs", checked_digits, h.numbers(), {}, {}, {}};
  m.run = [s, &h] {
    s->weights.assign(h.tokens * h.tokens, real(0));
    s->output.assign(h.tokens * h.value_width, real(0));
    const real scale = 1 / sqrt(real(static_cast<unsigned long>(h.key_width)));
    for (std::size_t i = 0; i < h.tokens; ++i) {
      real* const weights = &s->weights[i * h.tokens];
      int largest = 0;
      for (std::size_t j = 0; j < h.tokens; ++j) {
        real dot = 0;
        for (std::size_t c = 0; c < h.key_width; ++c)
          dot += real(h.q[i * h.key_width + c]) * real(h.k[j * h.key_width + c]);
        weights[j] = dot;
        if (j == 0 || dot > largest) largest = static_cast<int>(dot);
      }
      real sum = 0;
      for (std::size_t j = 0; j < h.tokens; ++j) sum += weights[j] = exp((weights[j] - largest) * scale);
      for (std::size_t j = 0; j < h.tokens; ++j) weights[j] /= sum;
      for (std::size_t j = 0; j < h.tokens; ++j)
        for (std::size_t c = 0; c < h.value_width; ++c)
          s->output[i * h.value_width + c] += weights[j] * h.v[j * h.value_width + c];
    }
  };
  m.check = [s, &h] {
    const attention_reference certified_digits = attention(problem_of(h), {60, {}});
    return for_each_number(h, [&](const char* array, std::size_t i, std::size_t j, double certified) {
      const bool weight = is_weight(array);
      const real& x = weight ? s->weights[i * h.tokens + j] : s->output[i * h.value_width + j];
      if (std::string wrong = same_bits(static_cast<double>(x), certified); !wrong.empty()) return wrong;
      const real digits((weight ? certified_digits.weights(i, j) : certified_digits.output(i, j)).decimal);
      const real error = abs(x - digits);
      return error > pow(real(10), -checked_digits) * 10 ? "off by " + error.str(3) : std::string();
    });
  };
  m.spoil = [s] { s->output[0] += pow(boost::multiprecision::cpp_bin_float_50(10), -checked_digits + 2); };
  return m;
}

template <class Kernel, class Bound>
method kernel_method(const head& h, const char* name, Kernel kernel, Bound bound_of) {
  struct state {
    std::vector<double> q, k, v, weights, output;
    std::vector<attest::kernel::row_bound> bounds;
    attest::kernel::attention_inputs<double> inputs;
    attest::kernel::attention_results<double> results;
    attention_options options;
  };
  const auto s = std::make_shared<state>();
  s->q.assign(h.q.begin(), h.q.end());
  s->k.assign(h.k.begin(), h.k.end());
  s->v.assign(h.v.begin(), h.v.end());
  s->weights.resize(h.tokens * h.tokens);
  s->output.resize(h.tokens * h.value_width);
  s->inputs = {{s->q.data(), {h.tokens, h.key_width}},
               {s->k.data(), {h.tokens, h.key_width}},
               {s->v.data(), {h.tokens, h.value_width}}};
  s->results = {{s->output.data(), {h.tokens, h.value_width}},
                tensor<double>{s->weights.data(), {h.tokens, h.tokens}},
                {}};
  double worst = 0;
  double values = 0;
  for (const int value : h.v) values = std::max(values, std::abs(static_cast<double>(value)));
  for (std::size_t i = 0; i < h.tokens; ++i) {
    attest::kernel::row_magnitudes row;
    row.key_width = h.key_width;
    row.keys = h.tokens;
    row.scale = neighbour(1 / std::sqrt(static_cast<double>(h.key_width)));
    row.values = values;
    for (std::size_t j = 0; j < h.tokens; ++j) {
      double products = 0;
      for (std::size_t c = 0; c < h.key_width; ++c)
        products += std::abs(s->q[i * h.key_width + c] * s->k[j * h.key_width + c]);
      row.products = std::max(row.products, products);
    }
    s->bounds.push_back(bound_of(row));
    worst = std::max(worst, s->bounds.back().output);
  }
  method m{name, "weights and outputs", -std::log10(worst / values), h.numbers(), {}, {}, {}};
  m.run = [s, kernel] { kernel(s->inputs, s->options, s->results); };
  m.check = [s, &h] {
    return for_each_number(h, [&](const char* array, std::size_t i, std::size_t j, double certified) {
      const bool weight = is_weight(array);
      const double x = weight ? s->weights[i * h.tokens + j] : s->output[i * h.value_width + j];
      // The certified value is off by half an ulp of its own.
      const double bound = (weight ? s->bounds[i].weight : s->bounds[i].output) + std::abs(certified) * 0x1p-53;
      if (std::abs(x - certified) <= bound) return std::string();  // a NaN is not within it
      return shortest(x) + " is not within " + shortest(bound) + " of the certified " + shortest(certified);
    });
  };
  m.spoil = [s, &h] { s->output[0] = h.output[0] + 1.5 * s->bounds[0].output; };
  return m;
}

}  // namespace

std::vector<method> methods(const head& h) {
  std::vector<method> all;
  all.push_back(kernel_method(h, "stable, double", attest::kernel::stable<double>, attest::kernel::stable_bound<double>));
  all.push_back(kernel_method(h, "naive, double", attest::kernel::naive<double>, attest::kernel::naive_bound<double>));
  all.push_back(high_precision(h));
  all.push_back(cross_check_floats(h));
  all.push_back(exact_products<unbounded_dyadic>(h, "exact, dyadic"));
  all.push_back(exact_products<unbounded_rational>(h, "exact, rational"));
  all.push_back(symbolic_rows(h));
  all.push_back(symbolic_equality(h));
  all.push_back(enclosures(h, 128));
  for (const unsigned digits : {17u, 50u, 200u}) all.push_back(reference(h, digits));
  return all;
}

}  // namespace bench
