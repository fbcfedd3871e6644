#include "problem.hpp"

#include <attest/kernel/error_bound.hpp>
#include <attest/kernel/float_environment.hpp>
#include <attest/reference/certified_attention.hpp>

#include "reference/double_double/tier.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <random>

namespace bench {

using attest::dtype;

namespace {

struct float_format {
  int digits;
  int lowest_exponent;  // of the last place of a subnormal number
};
float_format float_format_of(dtype type) {
  switch (type) {
    case dtype::bfloat16:
      return {8, -133};
    case dtype::binary16:
      return {11, -24};
    case dtype::binary32:
      return {24, -149};
    default:
      return {53, -1074};
  }
}

/// The unit in the last place of the format at this magnitude.
double unit_at(double x, dtype type) {
  const float_format f = float_format_of(type);
  const int exponent = x == 0 ? f.lowest_exponent : std::max(std::ilogb(x) - f.digits + 1, f.lowest_exponent);
  return std::ldexp(1.0, exponent);
}

/// high + low rounded to nearest even; |low| is at most half a unit of high. No overflow here.
double rounded(double high, float low, dtype type) {
  if (type == dtype::binary64) return high;
  const double unit = unit_at(high, type);
  const double scaled = high / unit;  // exact, a power of two
  double nearest = std::nearbyint(scaled);
  // The low word decides where the high one stands halfway between two numbers.
  const double rest = scaled - nearest;
  if (std::abs(rest) == 0.5 && low != 0) {
    const bool up = low > 0;
    nearest = up ? std::ceil(scaled) : std::floor(scaled);
  }
  return nearest * unit;
}

std::size_t bytes_of(dtype type) { return attest::size_of(type); }

}  // namespace

void array::release::operator()(unsigned char* p) const { ::operator delete[](p, std::align_val_t{64}); }

array::array(dtype type, const attest::layout& where) : type_(type), where_(where) {
  memory_.reset(static_cast<unsigned char*>(::operator new[](size() * bytes_of(type), std::align_val_t{64})));
  std::memset(memory_.get(), 0, size() * bytes_of(type));
}

array::array(dtype type, const attest::layout& where, const std::vector<double>& values) : array(type, where) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = rounded(values[i], 0, type);
    switch (type) {
      case dtype::binary64:
        data<double>()[i] = x;
        break;
      case dtype::binary32:
        data<float>()[i] = static_cast<float>(x);
        break;
      case dtype::bfloat16:
        data<std::uint16_t>()[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16);
        break;
      default: {  // binary16
        const auto unit = std::ilogb(unit_at(x, type));
        const auto significand = static_cast<std::uint32_t>(std::ldexp(std::abs(x), -unit));
        const auto exponent = static_cast<std::uint32_t>(unit + 24);  // a subnormal's is 0
        const std::uint32_t magnitude = (exponent << 10) + significand;
        data<std::uint16_t>()[i] = static_cast<std::uint16_t>((std::signbit(x) ? 0x8000U : 0U) | magnitude);
      }
    }
  }
}

std::size_t array::size() const {
  return where_.extents[0] * where_.extents[1] * where_.extents[2] * where_.extents[3];
}

std::vector<double> array::values() const {
  std::vector<double> result;
  result.reserve(size());
  const attest::any_tensor all = view();
  const auto& e = where_.extents;
  for (std::size_t b = 0; b < e[0]; ++b)
    for (std::size_t h = 0; h < e[1]; ++h)
      for (std::size_t t = 0; t < e[2]; ++t)
        for (std::size_t c = 0; c < e[3]; ++c) result.push_back(all(b, h, t, c));
  return result;
}

problem::problem(dtype t, std::size_t number_of_heads, std::size_t tq, std::size_t tk, std::size_t d, inputs kind)
    : type(t), heads(number_of_heads), queries(tq), keys(tk), width(d) {
  std::mt19937_64 engine(keys * 1000 + width);
  std::normal_distribution<double> normal;
  const auto draw = [&](std::size_t positions, double factor, bool integer, bool padded, bool constant) {
    std::vector<double> x(heads * positions * width);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t position = i / width % positions;
      const std::size_t coordinate = i % width;
      double value = normal(engine) * factor;
      if (integer) value = std::nearbyint(value * 2);
      if (constant) value = static_cast<double>(coordinate) + 0.5;
      // The last quarter of the positions and of the coordinates.
      if (padded && (position >= positions - positions / 4 || coordinate >= width - width / 4)) value = 0;
      x[i] = value;
    }
    return array(type, attest::layout{1, heads, positions, width}, x);
  };
  const bool integer = kind == inputs::integers;
  const bool padded = kind == inputs::zero_padded;
  q = draw(queries, kind == inputs::peaked ? 10 : 1, integer, padded, false);
  k = draw(keys, 1, integer, padded, false);
  v = draw(keys, 1, integer, padded, kind == inputs::constant_values);
}

double problem::multiply_adds() const {
  const auto pairs = static_cast<double>(queries) * static_cast<double>(keys) * static_cast<double>(heads);
  return 2 * pairs * static_cast<double>(width);
}

namespace {

/// What the exact values have beyond these, by the double-double tier (certified low words are much slower to have): 0 where
/// that is within its error.
std::vector<float> rest_of(const problem& p, const std::vector<double>& high) {
  namespace pairs = attest::double_double_tier;
  const attest::kernel::float_environment environment;
  const std::vector<double> q = p.q.values(), k = p.k.values(), v = p.v.values();
  std::vector<float> result(p.outputs());
  constexpr std::size_t block = 64;
  std::vector<double> rows_high(block * p.width), rows_low(block * p.width), rows_error(block * p.width);
  pairs::scratch memory;
  for (std::size_t h = 0; h < p.heads; ++h) {
    const std::size_t first = h * p.keys * p.width;
    const pairs::packed_head head(p.keys, p.width, p.width, &k[first], p.width, &v[first], p.width);
    for (std::size_t begin = 0; begin < p.queries; begin += block) {
      std::vector<pairs::query_row> rows;
      std::vector<pairs::row_results> to;
      for (std::size_t i = begin; i < std::min(begin + block, p.queries); ++i) {
        const std::size_t last = p.options.causal ? i + 1 : p.keys;
        const unsigned char* visible = nullptr;  // the masks here are [T, T]
        if (p.options.mask) visible = static_cast<const unsigned char*>(p.options.mask->data()) + i * p.keys;
        rows.push_back({&q[(h * p.queries + i) * p.width], 0, last, 0, visible, nullptr});
        const std::size_t place = (i - begin) * p.width;
        to.push_back({&rows_high[place], &rows_low[place], &rows_error[place], nullptr, nullptr, nullptr, nullptr});
      }
      pairs::evaluate(head, {p.options.scale, {}, {}, {}}, rows, to, memory);
      for (std::size_t place = 0; place < rows.size() * p.width; ++place) {
        const int exponent = head.value_exponents()[place % p.width];
        const std::size_t n = (h * p.queries + begin) * p.width + place;
        const double rest = (std::ldexp(rows_high[place], exponent) - high[n]) + std::ldexp(rows_low[place], exponent);
        result[n] = std::abs(rest) <= std::ldexp(rows_error[place], exponent) ? 0.0F : static_cast<float>(rest);
      }
    }
  }
  return result;
}

}  // namespace

const problem::exact_output& problem::exact() const {
  if (exact_) return *exact_;
  auto result = std::make_unique<exact_output>();
  result->high.resize(outputs());
  attest::certified_options how;
  how.threads = 0;
  how.tiers[0] = false;
  attest::certified_attention(
      {q.view(), k.view(), v.view()}, options,
      {attest::tensor<double>(result->high.data(), {1, heads, queries, width})}, how);
  result->low = rest_of(*this, result->high);

  // The largest Σ|q k| is at most |q|·|k|, by Cauchy and Schwarz.
  const auto longest = [&](const array& a) {
    double most = 0;
    const std::vector<double> x = a.values();
    for (std::size_t i = 0; i < x.size(); i += width) {
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) sum += x[i + c] * x[i + c];
      most = std::max(most, sum);
    }
    return std::sqrt(most) * (1 + 1e-10);
  };
  const auto largest = [](const array& a) {
    double most = 0;
    for (const double x : a.values()) most = std::max(most, std::abs(x));
    return most;
  };
  attest::kernel::row_magnitudes row;
  row.key_width = width;
  row.keys = keys;
  row.products = longest(q) * longest(k);
  row.scale = options.scale ? std::abs(*options.scale) : std::nextafter(1 / std::sqrt(static_cast<double>(width)), 1);
  row.values = largest(v);
  result->tolerance = type == dtype::binary64 ? attest::kernel::stable_bound<double>(row).output
                                              : attest::kernel::stable_bound<float>(row).output;
  exact_ = std::move(result);
  return *exact_;
}

accuracy accuracy_of(const problem& p, const attest::any_tensor& output, bool certified) {
  const problem::exact_output& exact = p.exact();
  const dtype type = output.type();
  accuracy result;
  std::size_t correct = 0;
  std::size_t n = 0;
  for (std::size_t h = 0; h < p.heads; ++h)
    for (std::size_t i = 0; i < p.queries; ++i)
      for (std::size_t c = 0; c < p.width; ++c, ++n) {
        const double x = output(0, h, i, c);
        const double high = exact.high[n];
        const double off = std::abs((x - high) - static_cast<double>(exact.low[n]));
        const double right = rounded(high, exact.low[n], type);
        correct += x == right ? 1 : 0;
        result.largest_ulp_error = std::max(result.largest_ulp_error, off / unit_at(high, type));
        const bool good = certified ? x == right : off <= exact.tolerance;
        if (!good && result.wrong.empty()) {
          char text[200];
          std::snprintf(text, sizeof text, "output [%zu, %zu, %zu] is %.17g, and the certified value %.17g", h, i, c, x,
                        right);
          result.wrong = text;
        }
      }
  result.correctly_rounded = n == 0 ? 1 : static_cast<double>(correct) / static_cast<double>(n);
  return result;
}

void spoil(const problem& p, const attest::any_tensor& output, bool certified) {
  void* const first = const_cast<void*>(output.data());  // it is a method's own memory
  const double off = 3 * p.exact().tolerance;
  if (certified)
    *static_cast<unsigned char*>(first) ^= std::endian::native == std::endian::little ? 1 : 0x80;
  else if (output.type() == dtype::binary64)
    *static_cast<double*>(first) += off;
  else
    *static_cast<float*>(first) += static_cast<float>(off);
}

}  // namespace bench
