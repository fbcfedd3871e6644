#include <attest/reference/certified_attention.hpp>

#include "kernel/fused.hpp"
#include "kernel/threads.hpp"
#include "problem/rows.hpp"
#include "reference/certified_head.hpp"
#include "reference/double_double_tier.hpp"
#include "reference/rounding_of_doubles.hpp"

#include <attest/kernel/error_bound.hpp>
#include <attest/kernel/float_environment.hpp>
#include <attest/problem/visibility.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>

namespace attest {

namespace {

using namespace certified;

// --- elements in memory ------------------------------------------------------------------------------------

template <class T>
void store(void* data, std::ptrdiff_t offset, std::uint64_t pattern) {
  const T value = static_cast<T>(pattern);
  std::memcpy(static_cast<unsigned char*>(data) + offset * static_cast<std::ptrdiff_t>(sizeof(T)), &value,
              sizeof(T));
}

/// One array of results with its low words and certificates.
class result_array {
 public:
  result_array(const any_result& high, const std::optional<any_result>& low,
               const std::optional<tensor<certificate>>& certificates, bool saturate)
      : high_(high), low_(low), certificates_(certificates), format_(*format_of(high.type())) {
    if (saturate) format_.infinity = format_.largest;  // what lies beyond the largest number
  }

  const format& to() const { return format_; }
  bool has_low() const { return low_.has_value(); }

  void write(const std::array<std::size_t, 4>& at, std::uint64_t pattern, certificate how) const {
    put(high_, at, pattern);
    if (certificates_) (*certificates_)(at[0], at[1], at[2], at[3]) = how;
  }
  void write_low(const std::array<std::size_t, 4>& at, std::uint64_t pattern) const {
    put(*low_, at, pattern);
  }

  /// Whether the elements of a row stand side by side, as aligned numbers.
  bool in_place() const {
    return high_.where().strides[3] == 1 &&
           reinterpret_cast<std::uintptr_t>(high_.data()) % size_of(high_.type()) == 0;
  }
  void* place(const std::array<std::size_t, 4>& at) const {
    return static_cast<unsigned char*>(high_.data()) + high_.where().offset(at[0], at[1], at[2], at[3]) *
                                                           static_cast<std::ptrdiff_t>(size_of(high_.type()));
  }
  /// The elements from here on are certified.
  void fill_certificates(const std::array<std::size_t, 4>& at, std::size_t count) const {
    if (!certificates_) return;
    for (std::size_t c = 0; c < count; ++c)
      (*certificates_)(at[0], at[1], at[2], at[3] + c) = certificate::certified;
  }
  /// The element that was written, as a double.
  double double_at(const std::array<std::size_t, 4>& at) const {
    return any_tensor(high_.data(), high_.type(), high_.where())(at[0], at[1], at[2], at[3]);
  }

 private:
  static void put(const any_result& to, const std::array<std::size_t, 4>& at, std::uint64_t pattern) {
    const std::ptrdiff_t offset = to.where().offset(at[0], at[1], at[2], at[3]);
    switch (size_of(to.type())) {
      case 1:
        return store<std::uint8_t>(to.data(), offset, pattern);
      case 2:
        return store<std::uint16_t>(to.data(), offset, pattern);
      case 4:
        return store<std::uint32_t>(to.data(), offset, pattern);
      default:
        return store<std::uint64_t>(to.data(), offset, pattern);
    }
  }

  any_result high_;
  std::optional<any_result> low_;
  std::optional<tensor<certificate>> certificates_;
  format format_;
};

// --- checks ------------------------------------------------------------------------------------------------

void check_array(const char* name, const any_result& array, const std::array<std::size_t, 4>& shape) {
  check_result(name, array.where(), array.data(), shape);
  if (format_of(array.type()) == nullptr)
    throw attention_error(
        fault::option, name,
        "its elements are " + to_string(array.type()) + ": a reference is written as floats");
}

void check_low(const char* name, const std::optional<any_result>& low, bool has_high,
               const std::array<std::size_t, 4>& shape) {
  if (!low) return;
  if (!has_high)
    throw attention_error(fault::option, name,
                          "low words belong to an array that is not asked for: give that too");
  if (low->type() != dtype::binary32)
    throw attention_error(fault::option, name,
                          "its elements are " + to_string(low->type()) + ": low words are binary32");
  check_result(name, low->where(), low->data(), shape);
}

void check_certificates(const char* name, const std::optional<tensor<certificate>>& array, bool has_high,
                        const std::array<std::size_t, 4>& shape) {
  if (!array) return;
  if (!has_high)
    throw attention_error(fault::option, name,
                          "certificates belong to an array that is not asked for: give that too");
  check_result(name, array->where(), array->data(), shape);
}

attention_shape checked(const certified_inputs& in, const attention_options& options,
                        const certified_results& out, const certified_options& how) {
  const attention_shape shape = checked_shape(in.q, in.k, in.v, options);
  const auto rows = [&](std::size_t width) {
    return std::array<std::size_t, 4>{shape.batch, shape.query_heads, shape.queries, width};
  };
  check_array("output", out.output, rows(shape.value_width));
  if (out.weights) check_array("weights", *out.weights, rows(shape.keys));
  if (out.log_sum_exp) check_array("log_sum_exp", *out.log_sum_exp, rows(1));
  check_low("output_low", out.output_low, true, rows(shape.value_width));
  check_low("weights_low", out.weights_low, out.weights.has_value(), rows(shape.keys));
  check_low("log_sum_exp_low", out.log_sum_exp_low, out.log_sum_exp.has_value(), rows(1));
  check_certificates("output_certificates", out.output_certificates, true, rows(shape.value_width));
  check_certificates("weight_certificates", out.weight_certificates, out.weights.has_value(),
                     rows(shape.keys));
  check_certificates("log_sum_exp_certificates", out.log_sum_exp_certificates, out.log_sum_exp.has_value(),
                     rows(1));
  if (out.log_sum_exp && !options.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp",
                          "its base is not said: set options.log_sum_exp to base e or two");
  if (!out.log_sum_exp && options.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp",
                          "the options ask for it and there is no array to write it to");
  if (!how.tiers[static_cast<std::size_t>(reference_tier::enclosure)])
    throw attention_error(fault::option,
                          "tiers: without enclosures not every element is settled: leave that tier on");
  if (how.max_bits && *how.max_bits < 128)
    throw attention_error(fault::option, "max_bits is " + std::to_string(*how.max_bits) +
                                             ": enclosures have at least 128 bits");

  const visibility visible(shape, options);
  check_values(in.q, in.k, in.v, options, shape, visible);
  check_empty_rows(options, shape, visible);
  return shape;
}

// --- the call ----------------------------------------------------------------------------------------------

constexpr std::size_t narrow = static_cast<std::size_t>(reference_tier::narrow);
constexpr std::size_t double_double = static_cast<std::size_t>(reference_tier::double_double);
constexpr std::size_t symbolic = static_cast<std::size_t>(reference_tier::symbolic);

/// Rows of one key/value head that one thread does in one go: of its query heads the rows first .. last.
struct part {
  std::size_t b;
  std::size_t head;  // of the keys and values
  std::size_t first;
  std::size_t last;
};

/// A query on its way through the tiers.
struct query {
  std::array<std::size_t, 3> at{};  // b, h, i
  row_view view;
  std::size_t seen = 0;  // 0, 1, or 2 for more
  std::size_t only_key = 0;
  bool equal_scores = false;  // all, and no sink
  bool zero_scores = false;   // moreover 0
  std::vector<unsigned char> sees;
  std::vector<double> bias;
  double largest_bias = 0;
  unsigned char* open = nullptr;  // by varying column: not settled yet
  std::size_t open_count = 0;
};

/// What a thread keeps from part to part.
struct worker {
  bool loaded = false;
  std::size_t b = 0;
  std::size_t head = 0;
  input_rows q, k, v;
  value_facts values;
  bool doubles = true;  // K and V are exact as doubles
  std::optional<double> largest_key;
  std::optional<bool> constant_keys;
  std::optional<double_double_tier::packed_head> pairs;
  bool scaled = false;  // some column's results of pairs are
  std::optional<kernel::fused_head::packed_head<double>> fused;
  score_options steps;  // of the query head at hand
  double narrow_squares = 0, narrow_keys = 0,
         narrow_bound = 0;  // the last bound of the narrow tier, and for what
  double_double_tier::scratch pair_memory;
  kernel::fused_head::scratch<double> fused_memory;
  struct constant_column {
    std::size_t column;
    std::uint64_t pattern;  // of its number in the output's format
    std::uint64_t low_pattern;
    certificate how;
  };
  std::vector<constant_column> constant;  // columns of the values whose output is their one number
  std::vector<std::size_t> varying;       // the others
  std::vector<double> varying_values;     // these alone, where there are constant ones

  std::vector<query*> block;
  std::vector<query*> pending;  // rows that the narrow tier left open
  std::vector<query*> spare;
  std::vector<std::unique_ptr<query[]>> queries;  // all that there are
  std::vector<std::unique_ptr<unsigned char[]>> flags;
  std::vector<kernel::fused_head::query_row<double>> fused_rows;
  std::vector<kernel::fused_head::row_results<double>> fused_results;
  std::vector<double_double_tier::query_row> pair_rows;
  std::vector<double_double_tier::row_results> pair_results;
  kernel::fused_head::vector_memory<double> numbers;  // what a tier gives for the rows at hand
  std::size_t numbers_size = 0;
  std::vector<std::uint64_t> patterns;
  std::vector<double> rounded;
  std::vector<unsigned char> open;
  std::size_t mean_first = 0, mean_last = 0;
  std::vector<std::optional<std::pair<std::uint64_t, certificate>>> means;  // by column, of these keys
  certification counts;

  /// Uninitialised room for so many numbers.
  double* room(std::size_t count) {
    if (count > numbers_size) {
      numbers = kernel::fused_head::vector_memory<double>(count);
      numbers_size = count;
    }
    return numbers.get();
  }
};

class certified_call {
 public:
  certified_call(const certified_inputs& in, const attention_options& options, const attention_shape& shape,
                 const certified_results& out, const certified_options& how)
      : in_(in),
        options_(options),
        shape_(shape),
        how_(how),
        visible_(shape, options),
        output_(out.output, out.output_low, out.output_certificates, how.saturate) {
    if (out.weights) weights_.emplace(*out.weights, out.weights_low, out.weight_certificates, how.saturate);
    if (out.log_sum_exp)
      log_sum_exp_.emplace(*out.log_sum_exp, out.log_sum_exp_low, out.log_sum_exp_certificates, how.saturate);
    const std::array<std::size_t, 4> scores{shape.batch, shape.query_heads, shape.queries, shape.keys};
    if (options.mask) mask_ = broadcast(*options.mask, scores, "mask");
    if (options.bias) bias_ = broadcast(*options.bias, scores, "bias");
    // With a low word of +0: below half of binary32's smallest number, the direction not upward.
    if (weights_)
      tiny_weight_ = std::ldexp(1.0, weights_->to().min_unit() - 2);  // for binary64 0: none is so small
    if (weights_ && weights_->has_low())
      tiny_weight_ = how.direction == rounding::up || how.direction == rounding::to_odd
                         ? 0
                         : std::min(tiny_weight_, 0x1p-152);
    hidden_keys_ = options.mask || options.bias || options.causal || options.window ||
                   !options.key_lengths.empty() || shape.queries == 0;
    limits_.max_bits = how.max_bits;
    limits_.symbolic = how.tiers[symbolic];
    // Without the symbolic tier a tie would never end.
    if (!limits_.symbolic && !limits_.max_bits) limits_.max_bits = bits_without_symbols;
    // The narrow tier has neither the digits for low words nor bounds for weights.
    use_narrow_ =
        how.tiers[narrow] && output_.to().precision <= 24 && !output_.has_low() && !weights_ && !log_sum_exp_;
    use_pairs_ = how.tiers[double_double];
    block_rows_ = weights_ ? 16 : kernel::fused_head::block_rows;
    const std::size_t rows = shape.batch * shape.query_heads * shape.queries;
    first_row_ = std::min(how.rows.first, rows);
    last_row_ = std::max(first_row_, std::min(how.rows.last, rows));
  }

  certification calculate() {
    const unsigned threads = useful_threads();
    const std::vector<part> parts = parts_for(threads);
    workers_.resize(std::min<std::size_t>(threads, std::max<std::size_t>(parts.size(), 1)));
    kernel::for_each_part(threads, parts.size(),
                          [&](std::size_t p, unsigned thread) { do_part(parts[p], workers_[thread]); });
    keep_first_undecided();
    certification all;
    for (const worker& w : workers_) {
      for (std::size_t t = 0; t < reference_tiers; ++t) all.settled[t] += w.counts.settled[t];
      all.exact += w.counts.exact;
      all.undecided += w.counts.undecided;
      all.most_bits = std::max(all.most_bits, w.counts.most_bits);
    }
    all.undecided_elements = std::move(undecided_);
    return all;
  }

 private:
  static constexpr unsigned bits_without_symbols = 1u << 14;
  static constexpr std::size_t listed = 100;
  static constexpr std::size_t pending_rows = 48;

  // --- parts -----------------------------------------------------------------------------------------------

  /// No more threads than have something to do that is worth starting them.
  unsigned useful_threads() const {
    const unsigned threads = kernel::thread_count(how_.threads);
    const double work = static_cast<double>(last_row_ - first_row_) * static_cast<double>(shape_.keys + 1) *
                        static_cast<double>(shape_.key_width + shape_.value_width);
    return static_cast<unsigned>(std::min<double>(threads, 1 + work / 1e5));
  }

  /// The rows asked for, cut into parts by head and, where the heads are too few for the threads, by
  /// position.
  std::vector<part> parts_for(unsigned threads) const {
    std::vector<part> parts;
    if (first_row_ == last_row_) return parts;
    const std::size_t heads = shape_.batch * shape_.key_value_heads;
    std::size_t pieces = 1;
    if (threads > 1 && heads < 4 * std::size_t{threads})
      pieces = (16 * std::size_t{threads} + heads - 1) / heads;
    std::size_t length = (shape_.queries + pieces - 1) / pieces;
    length = (length + block_rows_ - 1) / block_rows_ * block_rows_;
    if (how_.progress) length = std::min<std::size_t>(length, 256);  // so that it shows
    length = std::max<std::size_t>(length, 1);
    for (std::size_t b = 0; b < shape_.batch; ++b)
      for (std::size_t h = 0; h < shape_.key_value_heads; ++h)
        for (std::size_t i = 0; i < shape_.queries; i += length) {
          const part p{b, h, i, std::min(i + length, shape_.queries)};
          bool wanted = false;
          for_each_head(p, [&](std::size_t query_head) {
            const auto [first, last] = asked_for(b, query_head, p.first, p.last);
            wanted = wanted || first < last;
          });
          if (wanted) parts.push_back(p);
        }
    return parts;
  }

  template <class F>
  void for_each_head(const part& p, F f) const {
    const std::size_t group = shape_.query_heads / shape_.key_value_heads;
    for (std::size_t h = p.head * group; h < (p.head + 1) * group; ++h) f(h);
  }

  /// The queries of first .. last that row_range leaves of a head.
  std::pair<std::size_t, std::size_t> asked_for(std::size_t b, std::size_t h, std::size_t first,
                                                std::size_t last) const {
    const std::size_t start = (b * shape_.query_heads + h) * shape_.queries;
    const std::size_t from = std::max(start + first, first_row_);
    const std::size_t to = std::min(start + last, last_row_);
    if (from >= to) return {first, first};
    return {from - start, to - start};
  }

  void do_part(const part& p, worker& w) {
    load_head(p.b, p.head, w);
    for_each_head(p, [&](std::size_t h) {
      const auto [first, last] = asked_for(p.b, h, p.first, p.last);
      if (first == last) return;
      w.q.load(in_.q, p.b, h, first, last, false);
      w.steps = steps_of(h);
      w.narrow_bound = 0;
      for (std::size_t i = first; i < last; i += block_rows_) {
        const std::size_t end = std::min(i + block_rows_, last);
        do_block(p.b, h, first, i, end, w);
        report(end - i);
      }
      finish_pending(w);
    });
  }

  void report(std::size_t rows) {
    if (!how_.progress) return;
    const std::lock_guard lock(mutex_);
    if (stopped_) throw interrupted();
    done_ += rows;
    stopped_ = !how_.progress(done_, last_row_ - first_row_);
    if (stopped_) throw interrupted();
  }

  // --- a head ----------------------------------------------------------------------------------------------

  void load_head(std::size_t b, std::size_t head, worker& w) const {
    if (w.loaded && w.b == b && w.head == head) return;
    w.loaded = true;
    w.b = b;
    w.head = head;
    w.k.load(in_.k, b, head, 0, shape_.keys, hidden_keys_);
    w.v.load(in_.v, b, head, 0, shape_.keys, hidden_keys_);
    w.values.reset(w.v.get());
    w.doubles = w.k.get().numbers.empty() && w.v.get().numbers.empty();
    w.largest_key.reset();
    w.constant_keys.reset();
    w.pairs.reset();
    w.fused.reset();
    w.means.clear();
    sort_columns(w);
  }

  /// Finds the columns that hold one number in every row, where no sink draws it towards 0.
  void sort_columns(worker& w) const {
    const exact_rows& v = w.v.get();
    w.constant.clear();
    w.varying.clear();
    std::vector<unsigned char> is_constant(v.width, 0);
    for (const std::size_t c : w.values.constant_columns()) {
      const input_number number = v(0, c);
      if (!options_.sinks.empty() && number.magnitude != 0) continue;
      is_constant[c] = 1;
      bool step = false;
      const unbounded_dyadic value = dyadic_of(number);
      const std::uint64_t pattern = round_ratio(value, 1, target_of(output_), &step);
      std::uint64_t low = 0;
      if (const auto high = value_of_pattern(pattern, output_.to()))
        low = round_ratio(value - *high, 1, {&formats::binary32}, nullptr);
      w.constant.push_back({c, pattern, low, step ? certificate::exact : certificate::certified});
    }
    for (std::size_t c = 0; c < v.width; ++c)
      if (is_constant[c] == 0) w.varying.push_back(c);
    if (w.constant.empty()) return;
    w.varying_values.resize(v.rows * w.varying.size());
    for (std::size_t j = 0; j < v.rows; ++j)
      for (std::size_t n = 0; n < w.varying.size(); ++n)
        w.varying_values[j * w.varying.size() + n] = v.row(j)[w.varying[n]];
  }

  /// The varying columns of the values.
  static const double* packed_values(const worker& w) {
    return w.constant.empty() ? w.v.get().doubles : w.varying_values.data();
  }
  static std::size_t packed_stride(const worker& w) {
    return w.constant.empty() ? w.v.get().stride : w.varying.size();
  }
  static const double_double_tier::packed_head& pairs_of(worker& w) {
    const exact_rows& k = w.k.get();
    if (!w.pairs) {
      w.pairs.emplace(k.rows, k.width, w.varying.size(), k.doubles, k.stride, packed_values(w),
                      packed_stride(w));
      const std::span<const int> exponents = w.pairs->value_exponents();
      w.scaled = std::any_of(exponents.begin(), exponents.end(), [](int e) { return e != 0; });
    }
    return *w.pairs;
  }
  static const kernel::fused_head::packed_head<double>& fused_of(worker& w) {
    const exact_rows& k = w.k.get();
    if (!w.fused)
      w.fused.emplace(k.rows, k.width, w.varying.size(), k.doubles, static_cast<std::ptrdiff_t>(k.stride),
                      packed_values(w), static_cast<std::ptrdiff_t>(packed_stride(w)));
    return *w.fused;
  }

  /// At least the Euclidean norm of every key of the head.
  static double largest_key(worker& w) {
    if (!w.largest_key) {
      double largest = 0;
      for (std::size_t j = 0; j < w.k.get().rows; ++j)
        largest = std::max(largest, sum_of_squares(w.k.get().width, w.k.get().row(j)));
      w.largest_key = norm(largest, w.k.get().width);
    }
    return *w.largest_key;
  }
  /// At least the Euclidean norm of n numbers, from the sum of their squares, which is off by less than n
  /// 2^-52 of itself and, where squares underflow, n 2^-1074.
  static double norm(double squares, std::size_t count) {
    const auto n = static_cast<double>(count);
    return std::sqrt(squares * (1 + (n + 8) * 0x1p-52) + n * 0x1p-1060);
  }

  static bool constant_keys(worker& w) {
    if (!w.constant_keys) {
      const exact_rows& k = w.k.get();
      bool constant = k.numbers.empty();
      for (std::size_t j = 1; j < k.rows && constant; ++j)
        for (std::size_t c = 0; c < k.width && constant; ++c) constant = k.row(j)[c] == k.row(0)[c];
      w.constant_keys = constant;
    }
    return *w.constant_keys;
  }

  // --- a row -----------------------------------------------------------------------------------------------

  target target_of(const result_array& array) const { return {&array.to(), how_.direction}; }

  score_options steps_of(std::size_t h) const {
    score_options steps{options_.scale, options_.softcap, {}, {}};
    if (!options_.alibi_slopes.empty()) steps.slope = options_.alibi_slopes[h];
    if (!options_.sinks.empty()) steps.sink = options_.sinks[h];
    return steps;
  }

  query* new_query(worker& w) const {
    if (w.spare.empty()) {
      const std::size_t width = shape_.value_width;
      w.queries.push_back(std::make_unique<query[]>(block_rows_));
      w.flags.push_back(std::make_unique<unsigned char[]>(block_rows_ * width));
      for (std::size_t n = block_rows_; n-- > 0;) {
        query* x = &w.queries.back()[n];
        x->open = w.flags.back().get() + n * width;
        w.spare.push_back(x);
      }
    }
    query* x = w.spare.back();
    w.spare.pop_back();
    return x;
  }

  query* prepare(std::size_t b, std::size_t h, std::size_t i, std::size_t index, worker& w) const {
    query* x = new_query(w);
    x->at = {b, h, i};
    row_view& row = x->view;
    row.q = &w.q.get();
    row.query = index;
    row.k = &w.k.get();
    row.v = &w.v.get();
    const visibility::key_range keys = visible_.keys(b, i);
    row.first = keys.first;
    row.last = keys.last;
    row.position = visible_.position(b, i);
    row.visible = nullptr;
    row.bias = nullptr;
    const score_options& steps = w.steps;
    row.steps = &steps;
    if (mask_) read_mask(*x);
    if (bias_) read_bias(*x);
    x->seen = std::min<std::size_t>(keys.last - keys.first, 2);
    x->only_key = keys.first;
    if (row.visible != nullptr) {
      x->seen = 0;
      for (std::size_t j = keys.first; j < keys.last && x->seen < 2; ++j)
        if (row.sees(j) && x->seen++ == 0) x->only_key = j;
    }
    x->equal_scores = false;
    x->zero_scores = false;
    if (!steps.sink && x->seen == 1) {
      x->equal_scores = true;
    } else if (!steps.sink && !steps.slope && row.bias == nullptr && row.visible == nullptr && x->seen != 0) {
      bool zero = row.q->numbers.empty();
      for (std::size_t c = 0; c < row.q->width && zero; ++c) zero = row.q->row(index)[c] == 0;
      x->zero_scores = zero;
      x->equal_scores = zero || constant_keys(w);
    }
    x->open_count = 0;
    return x;
  }

  void read_mask(query& x) const {
    row_view& row = x.view;
    const auto [b, h, i] = x.at;
    const unsigned char* bytes = static_cast<const unsigned char*>(mask_->data());
    if (row.first == row.last) return;
    bytes += mask_->where().offset(b, h, i, row.first);
    const std::ptrdiff_t step = mask_->where().strides[3];
    if (step == 1) {
      row.visible = bytes;
      return;
    }
    x.sees.resize(row.last - row.first);
    for (std::size_t j = 0; j < x.sees.size(); ++j) x.sees[j] = bytes[static_cast<std::ptrdiff_t>(j) * step];
    row.visible = x.sees.data();
  }

  void read_bias(query& x) const {
    row_view& row = x.view;
    const auto [b, h, i] = x.at;
    const std::size_t count = row.last - row.first;
    if (count == 0) return;
    x.bias.resize(count);
    read_row(*bias_, b, h, i, row.first, count, x.bias.data());
    x.largest_bias = largest_magnitude(count, x.bias.data());
    if (x.largest_bias == std::numeric_limits<double>::infinity()) {
      // -infinity hides the key.
      if (row.visible != x.sees.data() || row.visible == nullptr) {
        x.sees.resize(count);
        for (std::size_t j = 0; j < count; ++j) x.sees[j] = row.visible == nullptr ? 1 : row.visible[j];
        row.visible = x.sees.data();
      }
      for (std::size_t j = 0; j < count; ++j)
        if (x.bias[j] == -std::numeric_limits<double>::infinity()) x.sees[j] = 0, x.bias[j] = 0;
      x.largest_bias = largest_magnitude(count, x.bias.data());
    }
    row.bias = x.bias.data();
  }

  // --- a block of rows of one query head -------------------------------------------------------------------

  void do_block(std::size_t b, std::size_t h, std::size_t loaded, std::size_t first, std::size_t last,
                worker& w) {
    w.block.clear();
    for (std::size_t i = first; i < last; ++i) {
      query* x = prepare(b, h, i, i - loaded, w);
      if (x->seen == 0 && !w.steps.sink) {
        empty_row(b, h, i, w);
        w.spare.push_back(x);
      } else if (x->seen < 2) {
        constant_outputs(*x, w);
        open_all(*x, w);
        exact_row(*x, w);
        w.spare.push_back(x);
      } else {
        w.block.push_back(x);
      }
    }
    if (w.block.empty()) return;
    const bool doubles = w.doubles && w.q.get().numbers.empty();
    for (query* x : w.block) {
      constant_outputs(*x, w);
      open_all(*x, w);
      // The same means for every row of the head.
      if (x->equal_scores && !options_.causal && !options_.window) means(*x, w);
    }
    if (doubles && use_narrow_ && !w.varying.empty() && !(w.block[0]->open_count == 0)) narrow_block(w);
    for (query* x : w.block) {
      if (x->open_count == 0 && !weights_ && !log_sum_exp_) {
        w.spare.push_back(x);
      } else if (doubles && use_pairs_) {
        w.pending.push_back(x);
      } else {
        exact_row(*x, w);
        w.spare.push_back(x);
      }
    }
    if (w.pending.size() >= (use_narrow_ ? pending_rows : 1)) finish_pending(w);
  }

  static void open_all(query& x, const worker& w) {
    std::memset(x.open, 1, w.varying.size());
    x.open_count = w.varying.size();
  }

  void constant_outputs(const query& x, worker& w) const {
    for (const worker::constant_column& known : w.constant) {
      const std::array<std::size_t, 4> at{x.at[0], x.at[1], x.at[2], known.column};
      output_.write(at, known.pattern, known.how);
      count(symbolic, known.how, w);
      if (output_.has_low()) output_.write_low(at, known.low_pattern);
    }
  }

  void narrow_block(worker& w) {
    namespace fused = kernel::fused_head;
    const std::size_t width = w.varying.size();
    const score_options& options = w.steps;
    auto steps = fused::score_steps<double>::of_scale(options.scale, shape_.key_width);
    steps.softcap = options.softcap;
    steps.slope = options.slope;
    steps.sink = options.sink;
    const std::size_t rows = w.block.size();
    double* numbers = w.room(rows * width);
    auto& queries = w.fused_rows;
    auto& results = w.fused_results;
    queries.resize(rows);
    results.resize(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      const row_view& row = w.block[r]->view;
      queries[r] = {.q = row.q->row(row.query),
                    .first_key = row.first,
                    .last_key = row.last,
                    .position = row.position,
                    .visible = row.visible,
                    .bias = row.bias};
      results[r] = {.output = numbers + r * width};
    }
    const auto overflow =
        fused::evaluate(fused_of(w), steps, queries.data(), results.data(), rows, w.fused_memory);
    for (std::size_t r = 0; r < rows; ++r) {
      query& x = *w.block[r];
      // Which rows of a block that overflows somewhere are good is not known.
      const double error = overflow ? std::numeric_limits<double>::infinity() : narrow_error(x, w);
      round_narrow(x, numbers + r * width, error, w);
    }
  }

  /// The bound of a row's outputs. It grows with the norm of the query and the number of keys, so that one
  /// for a little more of both serves many rows.
  double narrow_error(const query& x, worker& w) const {
    const row_view& row = x.view;
    const double squares = sum_of_squares(shape_.key_width, row.q->row(row.query));
    const auto keys = static_cast<double>(row.last - row.first);
    const bool alone = row.bias != nullptr || row.steps->slope;
    if (!alone && w.narrow_bound != 0 && squares <= w.narrow_squares && squares >= 0.4 * w.narrow_squares &&
        keys <= w.narrow_keys && keys >= 0.6 * w.narrow_keys)
      return w.narrow_bound;
    w.narrow_squares = alone ? squares : 1.25 * squares;
    w.narrow_keys = alone ? keys : std::min(std::floor(1.25 * keys) + 1, static_cast<double>(shape_.keys));
    const double bound = narrow_error(x, w.narrow_squares, w.narrow_keys, w.values.largest(), w);
    w.narrow_bound = alone ? 0 : bound;
    return bound;
  }

  /// The bound of outputs of a query of that many squares and keys, of values that are not larger.
  double narrow_error(const query& x, double squares, double keys, double values, worker& w) const {
    const row_view& row = x.view;
    kernel::row_magnitudes m;
    m.key_width = shape_.key_width;
    m.keys = m.span = static_cast<std::size_t>(keys);
    m.products = norm(squares, shape_.key_width) * largest_key(w) * (1 + 0x1p-50);
    // 1/√d is one of the kernel's roundings; here it only must not be too small.
    m.scale = row.steps->scale ? std::fabs(*row.steps->scale)
                               : 1 / std::sqrt(static_cast<double>(shape_.key_width)) * (1 + 0x1p-50);
    m.softcap = row.steps->softcap;
    if (row.bias != nullptr) m.bias = x.largest_bias;
    if (row.steps->slope) m.slope = std::fabs(*row.steps->slope);
    const auto distance = [&](std::size_t key) {
      return std::fabs(static_cast<double>(row.position) - static_cast<double>(key));
    };
    m.distance = std::max(distance(row.first), distance(row.last - 1));
    if (row.steps->sink) m.sink = std::fabs(*row.steps->sink);
    m.values = values;
    return kernel::fused_bound<double>(m).output;
  }

  /// Rounds a row of doubles with one bound.
  void round_narrow(query& x, const double* numbers, double error, worker& w) {
    const std::size_t width = w.varying.size();
    const format& f = output_.to();
    const auto [b, h, i] = x.at;
    if (output_.in_place() && w.constant.empty()) {
      x.open_count =
          round_between_steps(width, numbers, error, f, how_.direction, output_.place({b, h, i, 0}), x.open);
      output_.fill_certificates({b, h, i, 0}, width);
    } else {
      w.patterns.resize(width);
      x.open_count = round_between_steps(width, numbers, error, f, how_.direction, w.patterns.data(), x.open);
      for (std::size_t n = 0; n < width; ++n)
        output_.write({b, h, i, w.varying[n]}, narrow_pattern(w.patterns.data(), n, f.storage_bits),
                      certificate::certified);
    }
    w.counts.settled[narrow] += width - x.open_count;
    if (x.open_count == 0) return;
    w.values.next_row();
    const row_view& row = x.view;
    const double squares = sum_of_squares(shape_.key_width, row.q->row(row.query));
    const auto keys = static_cast<double>(row.last - row.first);
    for (std::size_t n = 0; n < width && x.open_count != 0; ++n) {
      if (x.open[n] == 0) continue;
      const std::size_t c = w.varying[n];
      const auto settled = [&](double bound) {
        return settle_pair(x, c, numbers[n], 0, bound, reference_tier::narrow, w);
      };
      // Then of this column alone, without the margin that makes one bound do for several rows.
      if (!settled(error) && (error == std::numeric_limits<double>::infinity() ||
                              !settled(narrow_error(x, squares, keys, w.values.largest_by_column()[c], w))))
        continue;
      x.open[n] = 0;
      --x.open_count;
    }
  }
  static std::uint64_t narrow_pattern(const void* patterns, std::size_t c, int bits) {
    if (bits == 8) return static_cast<const std::uint8_t*>(patterns)[c];
    if (bits == 16) return static_cast<const std::uint16_t*>(patterns)[c];
    return static_cast<const std::uint32_t*>(patterns)[c];
  }

  /// An output that a pair and its error may settle. Where a number of the format or a tie may be the exact
  /// value, the mean of the column has to show that it is not.
  bool settle_pair(const query& x, std::size_t c, double high, double low, double error, reference_tier tier,
                   worker& w) {
    const pair_rounding r = round_pair(high, low, error, output_.to(), how_.direction);
    if (!r.settled) return false;
    if (r.holds_step && !w.values.mean_excludes(c, x.view, r.step)) return false;
    const std::array<std::size_t, 4> at{x.at[0], x.at[1], x.at[2], c};
    output_.write(at, r.pattern, certificate::certified);
    count(static_cast<std::size_t>(tier), certificate::certified, w);
    return true;
  }

  // --- pairs of doubles ------------------------------------------------------------------------------------

  void finish_pending(worker& w) {
    if (w.pending.empty()) return;
    namespace pairs = double_double_tier;
    // Rows that are open in the same columns side by side: the others are left out for several rows at once.
    if (use_narrow_) {
      const std::size_t columns = w.varying.size();
      std::sort(w.pending.begin(), w.pending.end(), [&](const query* x, const query* y) {
        const int order = std::memcmp(x->open, y->open, columns);
        return order != 0 ? order > 0 : x->at < y->at;
      });
    }
    const double_double_tier::packed_head& head = pairs_of(w);
    const score_options& options = w.steps;
    const pairs::score_steps steps{options.scale, options.softcap, options.slope, options.sink};
    const std::size_t rows = w.pending.size();
    const std::size_t width = w.varying.size();
    const std::size_t keys = weights_ ? shape_.keys : 0;
    const std::size_t each = 3 * width + 3 + 3 * keys;
    double* all = w.room(rows * each);
    auto& queries = w.pair_rows;
    auto& results = w.pair_results;
    queries.resize(rows);
    results.resize(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      const row_view& row = w.pending[r]->view;
      queries[r] = {row.q->row(row.query), row.first, row.last, row.position, row.visible, row.bias};
      if (use_narrow_) queries[r].wanted = w.pending[r]->open;
      double* numbers = all + r * each;
      results[r] = {numbers, numbers + width, numbers + 2 * width, nullptr, nullptr, nullptr, nullptr};
      if (log_sum_exp_) results[r].log_sum_exp = numbers + 3 * width;
      if (weights_) {
        results[r].weights_high = numbers + 3 * width + 3;
        results[r].weights_low = results[r].weights_high + keys;
        results[r].weights_error = results[r].weights_low + keys;
      }
    }
    pairs::evaluate(head, steps, queries, results, w.pair_memory);
    for (std::size_t r = 0; r < rows; ++r) {
      finish_row(*w.pending[r], results[r], w);
      w.spare.push_back(w.pending[r]);
    }
    w.pending.clear();
  }

  void finish_row(query& x, const double_double_tier::row_results& pairs, worker& w) {
    w.values.next_row();
    round_pairs(x, pairs, w);
    const bool weights_open = weights_ && !settle_weights(x, pairs, w);
    const bool logarithm_open = log_sum_exp_ && !settle_logarithm(x, pairs.log_sum_exp, w);
    if (x.open_count != 0 || weights_open || logarithm_open) exact_rest(x, weights_open, logarithm_open, w);
  }

  void round_pairs(query& x, const double_double_tier::row_results& pairs, worker& w) {
    const std::size_t width = w.varying.size();
    const auto [b, h, i] = x.at;
    const std::span<const int> exponents = w.pairs->value_exponents();
    if (width != 0 && output_.to().precision == 53 && !output_.has_low()) {
      const bool in_place = output_.in_place() && w.constant.empty();
      w.rounded.resize(width);
      double* place = in_place ? static_cast<double*>(output_.place({b, h, i, 0})) : w.rounded.data();
      x.open_count = round_pairs_between_steps(width, pairs.output_high, pairs.output_low, pairs.output_error,
                                               how_.direction, place, x.open);
      for (std::size_t n = 0; n < width && w.scaled; ++n)
        if (exponents[n] != 0) rescale(x, n, exponents[n], place[n]);
      if (x.open_count != 0)
        for (std::size_t n = 0; n < width; ++n)
          if (x.open[n] == 2 && how_.direction == rounding::nearest_even &&
              w.values.mean_excludes(w.varying[n], x.view, place[n]))
            x.open[n] = 0, --x.open_count;
      w.counts.settled[double_double] += width - x.open_count;
      if (in_place)
        output_.fill_certificates({b, h, i, 0}, width);
      else
        for (std::size_t n = 0; n < width; ++n)
          output_.write({b, h, i, w.varying[n]}, std::bit_cast<std::uint64_t>(place[n]),
                        certificate::certified);
    }
    if (x.open_count == 0) return;
    for (std::size_t n = 0; n < width && x.open_count != 0; ++n) {
      if (x.open[n] == 0) continue;
      const std::size_t c = w.varying[n];
      double high = pairs.output_high[n], low = pairs.output_low[n], error = pairs.output_error[n];
      if (exponents[n] != 0) {
        // Exactly, but for numbers below 2^-1022, which get the error that they can have.
        high = std::ldexp(high, exponents[n]);
        low = std::ldexp(low, exponents[n]);
        error = std::ldexp(error, exponents[n]) + 0x1p-1070;
      }
      if (!settle_pair(x, c, high, low, error, reference_tier::double_double, w)) continue;
      if (output_.has_low() && !low_of_pair({b, h, i, c}, output_, high, low, error)) {
        --w.counts.settled[double_double];
        continue;
      }
      x.open[n] = 0;
      --x.open_count;
    }
  }

  /// A rounded number times 2^exponent: rounding commutes with that among normal numbers.
  static void rescale(query& x, std::size_t n, int exponent, double& number) {
    const double scaled = std::ldexp(number, exponent);
    const bool normal = std::fabs(scaled) >= 0x1p-1020 && std::fabs(scaled) < 0x1p1022;
    number = scaled;
    if (normal || x.open[n] == 1) return;
    if (x.open[n] == 0) ++x.open_count;
    x.open[n] = 1;
  }

  /// The low word of an element that a pair has settled, if the pair settles that too.
  static bool low_of_pair(const std::array<std::size_t, 4>& at, const result_array& array, double high,
                          double low, double error) {
    const double element = array.double_at(at);
    if (!std::isfinite(element)) {
      array.write_low(at, 0);
      return true;
    }
    // high + low - element: sum and rest are high + low exactly (Knuth's TwoSum); the difference is exact
    // where its operands are within a factor of two (Sterbenz), and otherwise its rounding counts.
    const double sum = high + low;
    const double part = sum - high;
    const double rest = (high - (sum - part)) + (low - part);
    const double difference = sum - element;
    const bool exact = element == 0 || (sum / element >= 0.5 && sum / element <= 2);
    const double more = exact ? 0 : std::fabs(difference) * 0x1p-50;
    const pair_rounding r =
        round_pair(difference, rest, error + more, formats::binary32, rounding::nearest_even);
    if (!r.settled) return false;
    array.write_low(at, r.pattern);
    return true;
  }

  /// The weights that pairs settle. Whether all are settled; the others are marked in w.open.
  bool settle_weights(const query& x, const double_double_tier::row_results& pairs, worker& w) {
    const row_view& row = x.view;
    const auto [b, h, i] = x.at;
    w.open.assign(shape_.keys, 0);
    if (x.equal_scores) {
      std::fill(w.open.begin(), w.open.end(), 1);
      return false;
    }
    std::size_t seen = row.steps->sink ? 1 : 0;
    for (std::size_t j = row.first; j < row.last; ++j) seen += row.sees(j) ? 1 : 0;
    bool all = true;
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      const std::array<std::size_t, 4> at{b, h, i, j};
      if (j < row.first || j >= row.last || !row.sees(j)) {
        write_known(at, *weights_, 0, w);
        continue;
      }
      const std::size_t k = j - row.first;
      const double high = pairs.weights_high[k], low = pairs.weights_low[k], error = pairs.weights_error[k];
      const double most = std::fabs(high) + std::fabs(low) + error;
      if (most < tiny_weight_) {
        // Positive, and less than a quarter of the format's smallest number.
        weights_->write(at, how_.direction == rounding::up || how_.direction == rounding::to_odd ? 1 : 0,
                        certificate::certified);
        if (weights_->has_low()) weights_->write_low(at, 0);
        count(double_double, certificate::certified, w);
        continue;
      }
      const pair_rounding r = round_pair(high, low, error, weights_->to(), how_.direction);
      // A weight is rational only where all scores are equal, 1/n: then n times the half step is 1.
      bool settled =
          r.settled && !(r.holds_step && std::fabs(r.step * static_cast<double>(seen) - 1) < 0x1p-40);
      if (settled) {
        weights_->write(at, r.pattern, certificate::certified);
        settled = !weights_->has_low() || low_of_pair(at, *weights_, high, low, error);
      }
      if (settled)
        count(double_double, certificate::certified, w);
      else
        w.open[j] = 1, all = false;
    }
    return all;
  }

  bool settle_logarithm(const query& x, const double* logarithm, worker& w) {
    double high = logarithm[0], low = logarithm[1], error = logarithm[2];
    const bool base_two = options_.log_sum_exp->base == log_sum_exp_base::two;
    if (base_two) over_ln2(high, low, error);
    const pair_rounding r = round_pair(high, low, error, log_sum_exp_->to(), how_.direction);
    if (!r.settled) return false;
    // Rational, with two keys or more: only in base two, an integer, where all scores are 0.
    if (r.holds_step && base_two && r.step == std::rint(r.step) && std::fabs(r.step) <= 64) return false;
    const std::array<std::size_t, 4> at{x.at[0], x.at[1], x.at[2], 0};
    log_sum_exp_->write(at, r.pattern, certificate::certified);
    if (log_sum_exp_->has_low() && !low_of_pair(at, *log_sum_exp_, high, low, error)) return false;
    count(double_double, certificate::certified, w);
    return true;
  }

  /// (high + low) / ln 2. With c + c' the pair of 1/ln 2, off by less than 2^-108 of it: p = high c and its
  /// exact rest, then high c' + low c, each product and sum rounded: off by less than 2^-103 of the result,
  /// |low| being at most 2^-50 |high|.
  static void over_ln2(double& high, double& low, double& error) {
    constexpr double c = 0x1.71547652b82fep+0;
    constexpr double c_low = 0x1.777d0ffda0d24p-56;
    const double p = high * c;
    const double rest = std::fma(high, c, -p);
    const bool normal = std::fabs(high) > 0x1p-900 && std::fabs(low) <= 0x1p-50 * std::fabs(high);
    low = rest + (high * c_low + low * c);
    high = p;
    error = normal ? error * 1.5 + std::fabs(p) * 0x1p-100 : std::numeric_limits<double>::infinity();
  }

  // --- the exact tiers -------------------------------------------------------------------------------------

  /// A row that sees no key and has no sink.
  void empty_row(std::size_t b, std::size_t h, std::size_t i, worker& w) const {
    const bool nan = *options_.empty_row == empty_row_policy::nan;
    const auto fill = [&](const result_array& array, std::size_t width) {
      for (std::size_t c = 0; c < width; ++c)
        write_known({b, h, i, c}, array, nan ? array.to().quiet_nan : 0, w);
    };
    fill(output_, shape_.value_width);
    if (weights_) fill(*weights_, shape_.keys);
    if (log_sum_exp_) {
      const format& f = log_sum_exp_->to();
      const bool plus = *options_.log_sum_exp->empty == empty_log_sum_exp::plus_infinity;
      std::uint64_t pattern = f.infinity;
      if (!plus) pattern |= f.sign_bit();
      write_known({b, h, i, 0}, *log_sum_exp_, pattern, w);
    }
  }

  /// A value that needs no calculation, and its low word 0.
  void write_known(const std::array<std::size_t, 4>& at, const result_array& array, std::uint64_t pattern,
                   worker& w) const {
    array.write(at, pattern, certificate::exact);
    count(symbolic, certificate::exact, w);
    if (array.has_low()) array.write_low(at, 0);
  }

  void exact_row(query& x, worker& w) {
    w.values.next_row();
    w.open.assign(weights_ ? shape_.keys : 0, 1);
    exact_rest(x, weights_.has_value(), log_sum_exp_.has_value(), w);
  }

  /// What is open of a row; of its weights what w.open marks.
  void exact_rest(query& x, bool weights_open, bool logarithm_open, worker& w) {
    if (x.equal_scores) {
      means(x, w);
      if (weights_open) equal_weights(x, w);
      weights_open = false;
      if (logarithm_open && x.zero_scores && options_.log_sum_exp->base == log_sum_exp_base::two &&
          std::has_single_bit(x.view.last - x.view.first)) {
        logarithm_open = false;
        const unbounded_dyadic exponent(std::countr_zero(x.view.last - x.view.first));
        rational({x.at[0], x.at[1], x.at[2], 0}, *log_sum_exp_, exponent, 1, w);
      }
    }
    if (x.open_count == 0 && !weights_open && !logarithm_open) return;
    row_engine engine(x.view, limits_);
    exact_outputs(x, engine, w);
    if (weights_open) exact_weights(x, engine, w);
    if (logarithm_open) exact_logarithm(x, engine, w);
  }

  /// numerator / denominator is the element.
  void rational(const std::array<std::size_t, 4>& at, const result_array& array,
                const unbounded_dyadic& numerator, std::uint64_t denominator, worker& w) const {
    bool step = false;
    const std::uint64_t pattern = round_ratio(numerator, denominator, target_of(array), &step);
    const certificate how = step ? certificate::exact : certificate::certified;
    array.write(at, pattern, how);
    count(symbolic, how, w);
    if (!array.has_low()) return;
    const auto high = value_of_pattern(pattern, array.to());
    if (!high) return array.write_low(at, 0);
    const unbounded_dyadic rest = numerator - *high * unbounded_dyadic(unbounded_integer(denominator));
    array.write_low(at, round_ratio(rest, denominator, {&formats::binary32}, nullptr));
  }

  /// The open outputs of a row of equal scores: means of the values. Rows that see the same keys have the
  /// same.
  void means(query& x, worker& w) const {
    const row_view& row = x.view;
    const std::size_t first = x.seen == 1 ? x.only_key : row.first;
    const std::size_t last = x.seen == 1 ? first + 1 : row.last;
    if (w.mean_first != first || w.mean_last != last || w.means.size() != shape_.value_width) {
      w.mean_first = first;
      w.mean_last = last;
      w.means.assign(shape_.value_width, std::nullopt);
    }
    for (std::size_t n = 0; n < w.varying.size(); ++n) {
      if (x.open[n] == 0) continue;
      const std::size_t c = w.varying[n];
      const std::array<std::size_t, 4> at{x.at[0], x.at[1], x.at[2], c};
      if (output_.has_low()) {
        rational(at, output_, w.values.sum(c, first, last), last - first, w);
      } else {
        if (!w.means[c]) {
          bool step = false;
          const std::uint64_t pattern =
              round_ratio(w.values.sum(c, first, last), last - first, target_of(output_), &step);
          w.means[c] = {pattern, step ? certificate::exact : certificate::certified};
        }
        output_.write(at, w.means[c]->first, w.means[c]->second);
        count(symbolic, w.means[c]->second, w);
      }
      x.open[n] = 0;
      --x.open_count;
    }
  }

  void equal_weights(const query& x, worker& w) const {
    const row_view& row = x.view;
    const std::size_t seen = x.seen == 1 ? 1 : row.last - row.first;
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      const std::array<std::size_t, 4> at{x.at[0], x.at[1], x.at[2], j};
      if (w.open[j] == 0) continue;
      if (j < row.first || j >= row.last || !row.sees(j))
        write_known(at, *weights_, 0, w);
      else
        rational(at, *weights_, unbounded_dyadic(1), seen, w);
    }
  }

  void exact_outputs(const query& x, row_engine& engine, worker& w) {
    for (std::size_t n = 0; n < w.varying.size(); ++n) {
      if (x.open[n] == 0) continue;
      const std::size_t c = w.varying[n];
      settle(reference_array::output, {x.at[0], x.at[1], x.at[2], c}, output_, w,
             [&](const target& to, const unbounded_dyadic* less) { return engine.output(c, to, less); });
    }
  }
  void exact_weights(const query& x, row_engine& engine, worker& w) {
    const row_view& row = x.view;
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      const std::array<std::size_t, 4> at{x.at[0], x.at[1], x.at[2], j};
      if (w.open[j] == 0) continue;
      if (j < row.first || j >= row.last || !row.sees(j)) {
        write_known(at, *weights_, 0, w);
        continue;
      }
      settle(reference_array::weights, at, *weights_, w,
             [&](const target& to, const unbounded_dyadic* less) { return engine.weight(j, to, less); });
    }
  }
  void exact_logarithm(const query& x, row_engine& engine, worker& w) {
    settle(reference_array::log_sum_exp, {x.at[0], x.at[1], x.at[2], 0}, *log_sum_exp_, w,
           [&](const target& to, const unbounded_dyadic* less) {
             return engine.log_sum_exp(options_.log_sum_exp->base, to, less);
           });
  }

  /// Rounds an element with the exact tiers, and its low word.
  template <class Round>
  void settle(reference_array which, const std::array<std::size_t, 4>& at, const result_array& array,
              worker& w, Round round) {
    const verdict v = round(target_of(array), nullptr);
    array.write(at, v.pattern, v.how);
    w.counts.most_bits = std::max(w.counts.most_bits, v.bits);
    count(static_cast<std::size_t>(v.tier), v.how, w);
    if (v.how == certificate::undecided) note_undecided({which, false, at, v.lower, v.upper});
    if (array.has_low()) low_word(which, at, array, v.pattern, w, round);
  }

  template <class Round>
  void low_word(reference_array which, const std::array<std::size_t, 4>& at, const result_array& array,
                std::uint64_t pattern, worker& w, Round round) {
    const auto high = value_of_pattern(pattern, array.to());
    if (!high) return array.write_low(at, 0);
    const verdict v = round(target{&formats::binary32}, &*high);
    array.write_low(at, v.pattern);
    w.counts.most_bits = std::max(w.counts.most_bits, v.bits);
    if (v.how != certificate::undecided) return;
    ++w.counts.undecided;
    note_undecided({which, true, at, v.lower, v.upper});
  }

  static void count(std::size_t tier, certificate how, worker& w) {
    if (how == certificate::undecided) {
      ++w.counts.undecided;
      return;
    }
    ++w.counts.settled[tier];
    if (how == certificate::exact) ++w.counts.exact;
  }

  void note_undecided(undecided_element element) {
    const std::lock_guard lock(mutex_);
    undecided_.push_back(std::move(element));
    if (undecided_.size() > 10 * listed) keep_first_undecided();
  }
  void keep_first_undecided() {
    std::sort(undecided_.begin(), undecided_.end(),
              [](const undecided_element& x, const undecided_element& y) {
                if (x.array != y.array) return x.array < y.array;
                return x.index != y.index ? x.index < y.index : x.low_word < y.low_word;
              });
    if (undecided_.size() > listed) undecided_.resize(listed);
  }

  const certified_inputs& in_;
  const attention_options& options_;
  const attention_shape& shape_;
  const certified_options& how_;
  visibility visible_;
  result_array output_;
  std::optional<result_array> weights_;
  std::optional<result_array> log_sum_exp_;
  std::optional<any_tensor> mask_;
  std::optional<any_tensor> bias_;
  bool hidden_keys_ = false;
  double tiny_weight_ = 0;  // a weight below it needs no digits
  bool use_narrow_ = false;
  bool use_pairs_ = false;
  std::size_t block_rows_ = 0;
  row_limits limits_;
  std::size_t first_row_ = 0;
  std::size_t last_row_ = 0;
  std::vector<worker> workers_;

  std::mutex mutex_;  // for what follows
  std::size_t done_ = 0;
  bool stopped_ = false;
  std::vector<undecided_element> undecided_;
};

[[gnu::noinline]] certification calculate(const certified_inputs& inputs, const attention_options& attention,
                                          const certified_results& results,
                                          const certified_options& options) {
  const attention_shape shape = checked(inputs, attention, results, options);
  return certified_call(inputs, attention, shape, results, options).calculate();
}

}  // namespace

certification certified_attention(const certified_inputs& inputs, const attention_options& attention,
                                  const certified_results& results, const certified_options& options) {
  const kernel::float_environment environment;
  return calculate(inputs, attention, results, options);
}

}  // namespace attest
