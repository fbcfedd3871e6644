#include <attest/reference/certified_attention.hpp>

#include "certified_row.hpp"
#include "kernel/threads.hpp"

#include <attest/kernel/float_environment.hpp>
#include <attest/problem/visibility.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

namespace attest {

namespace {

using namespace certified;

// --- elements in memory ---------------------------------------------------------------------------------------------

template <class T>
T load(const void* data, std::ptrdiff_t offset) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(data) + offset * static_cast<std::ptrdiff_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void store(void* data, std::ptrdiff_t offset, std::uint64_t pattern) {
  const T value = static_cast<T>(pattern);
  std::memcpy(static_cast<unsigned char*>(data) + offset * static_cast<std::ptrdiff_t>(sizeof(T)), &value, sizeof(T));
}

bool is_wide_integer(dtype type) { return type == dtype::int64 || type == dtype::uint64; }

input_number wide_integer(const any_tensor& array, std::ptrdiff_t offset) {
  if (array.type() == dtype::uint64) return {false, load<std::uint64_t>(array.data(), offset), 0};
  const auto n = load<std::int64_t>(array.data(), offset);
  const auto magnitude = static_cast<std::uint64_t>(n);
  return {n < 0, n < 0 ? ~magnitude + 1 : magnitude, 0};
}

/// Whether a double holds it.
bool is_double(const input_number& x) {
  return x.magnitude == 0 || 64 - std::countl_zero(x.magnitude) - std::countr_zero(x.magnitude) <= 53;
}

/// Rows first .. last of one head. Rows that hold anything but finite numbers become zeros: no query sees them.
void pack(const any_tensor& array, std::size_t b, std::size_t h, std::size_t first, std::size_t last, exact_rows& to) {
  to.rows = last - first;
  to.width = array.where().extents[3];
  to.doubles.resize(to.rows * to.width);
  to.elements.clear();
  bool exact = true;
  double* out = to.doubles.data();
  for (std::size_t t = first; t < last; ++t, out += to.width) {
    if (array.type() == dtype::binary64 && array.where().strides[3] == 1 && to.width != 0)
      std::memcpy(out, static_cast<const double*>(array.data()) + array.where().offset(b, h, t, 0), to.width * sizeof(double));
    else
      for (std::size_t c = 0; c < to.width; ++c) out[c] = array(b, h, t, c);
    double probe = 0;
    for (std::size_t c = 0; c < to.width; ++c) probe += out[c] * 0;
    if (!(probe == 0)) std::fill(out, out + to.width, 0.0);
    if (is_wide_integer(array.type()))
      for (std::size_t c = 0; c < to.width; ++c)
        exact = exact && is_double(wide_integer(array, array.where().offset(b, h, t, c)));
  }
  if (exact) return;
  for (std::size_t t = first; t < last; ++t)
    for (std::size_t c = 0; c < to.width; ++c)
      to.elements.push_back(wide_integer(array, array.where().offset(b, h, t, c)));
}

/// One array of results with its low words and certificates.
class result_array {
 public:
  result_array(const any_result& high, const std::optional<any_result>& low,
               const std::optional<tensor<certificate>>& certificates)
      : high_(high), low_(low), certificates_(certificates), format_(format_of(high.type())) {}

  const format& to() const { return *format_; }
  bool has_low() const { return low_.has_value(); }

  void write(const std::array<std::size_t, 4>& at, std::uint64_t pattern, certificate how) const {
    put(high_, at, pattern);
    if (certificates_) (*certificates_)(at[0], at[1], at[2], at[3]) = how;
  }
  void write_low(const std::array<std::size_t, 4>& at, std::uint64_t pattern) const { put(*low_, at, pattern); }

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
  const format* format_;
};

// --- checks ---------------------------------------------------------------------------------------------------------

void check_array(const char* name, const any_result& array, const std::array<std::size_t, 4>& shape) {
  check_result(name, array.where(), array.data(), shape);
  if (format_of(array.type()) == nullptr)
    throw attention_error(fault::option, name, "its elements are " + to_string(array.type()) + ": a reference is written as floats");
}

void check_low(const char* name, const std::optional<any_result>& low, bool has_high, const std::array<std::size_t, 4>& shape) {
  if (!low) return;
  if (!has_high)
    throw attention_error(fault::option, name, "low words belong to an array that is not asked for: give that too");
  if (low->type() != dtype::binary32)
    throw attention_error(fault::option, name, "its elements are " + to_string(low->type()) + ": low words are binary32");
  check_result(name, low->where(), low->data(), shape);
}

void check_certificates(const char* name, const std::optional<tensor<certificate>>& array, bool has_high,
                        const std::array<std::size_t, 4>& shape) {
  if (!array) return;
  if (!has_high)
    throw attention_error(fault::option, name, "certificates belong to an array that is not asked for: give that too");
  check_result(name, array->where(), array->data(), shape);
}

attention_shape checked(const certified_inputs& in, const attention_options& options, const certified_results& out,
                        const certified_options& how) {
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
  check_certificates("weight_certificates", out.weight_certificates, out.weights.has_value(), rows(shape.keys));
  check_certificates("log_sum_exp_certificates", out.log_sum_exp_certificates, out.log_sum_exp.has_value(), rows(1));
  if (out.log_sum_exp && !options.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp", "its base is not said: set options.log_sum_exp to base e or two");
  if (!out.log_sum_exp && options.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp", "the options ask for it and there is no array to write it to");
  if (!how.tiers[static_cast<std::size_t>(reference_tier::enclosure)])
    throw attention_error(fault::option, "tiers: without enclosures not every element is settled: leave that tier on");
  if (how.max_bits && *how.max_bits < 128)
    throw attention_error(fault::option, "max_bits is " + std::to_string(*how.max_bits) + ": enclosures have at least 128 bits");

  const visibility visible(shape, options);
  check_values(in.q, in.k, in.v, options, shape, visible);
  check_empty_rows(options, shape, visible);
  return shape;
}

// --- the call -------------------------------------------------------------------------------------------------------

/// Rows of one key/value head that one thread does in one go: of its query heads the rows first .. last.
struct part {
  std::size_t b;
  std::size_t head;  // of the keys and values
  std::size_t first;
  std::size_t last;
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
        output_(out.output, out.output_low, out.output_certificates) {
    if (out.weights) weights_.emplace(*out.weights, out.weights_low, out.weight_certificates);
    if (out.log_sum_exp) log_sum_exp_.emplace(*out.log_sum_exp, out.log_sum_exp_low, out.log_sum_exp_certificates);
    if (options.bias) bias_ = broadcast(*options.bias, {shape.batch, shape.query_heads, shape.queries, shape.keys}, "bias");
    limits_.max_bits = how.max_bits;
    limits_.symbolic = how.tiers[static_cast<std::size_t>(reference_tier::symbolic)];
    // Without the symbolic tier a tie would never end.
    if (!limits_.symbolic && !limits_.max_bits) limits_.max_bits = bits_without_symbols;
    const std::size_t rows = shape.batch * shape.query_heads * shape.queries;
    first_row_ = std::min(how.rows.first, rows);
    last_row_ = std::max(first_row_, std::min(how.rows.last, rows));
  }

  certification calculate() {
    const unsigned threads = kernel::thread_count(how_.threads);
    const std::vector<part> parts = parts_for(threads);
    workers_.resize(std::min<std::size_t>(threads, std::max<std::size_t>(parts.size(), 1)));
    kernel::for_each_part(threads, parts.size(), [&](std::size_t p, unsigned thread) { do_part(parts[p], workers_[thread]); });
    std::sort(undecided_.begin(), undecided_.end(), [](const undecided_element& x, const undecided_element& y) {
      if (x.array != y.array) return x.array < y.array;
      return x.index != y.index ? x.index < y.index : x.low_word < y.low_word;
    });
    if (undecided_.size() > listed) undecided_.resize(listed);
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

  /// What a thread keeps from part to part.
  struct worker {
    bool packed = false;
    std::size_t b = 0;
    std::size_t head = 0;
    exact_rows k;
    exact_rows v;
    exact_rows q;  // of the rows at hand
    std::vector<unsigned char> sees;
    std::vector<double> bias;
    certification counts;
  };

  /// The rows asked for, cut into parts by head and, where the heads are too few for the threads, by position.
  std::vector<part> parts_for(unsigned threads) const {
    std::vector<part> parts;
    if (first_row_ == last_row_) return parts;
    const std::size_t heads = shape_.batch * shape_.key_value_heads;
    std::size_t pieces = 1;
    if (threads > 1 && heads < 4 * std::size_t{threads}) pieces = (8 * std::size_t{threads} + heads - 1) / heads;
    std::size_t length = (shape_.queries + pieces - 1) / pieces;
    length = std::max<std::size_t>((length + 63) / 64 * 64, 64);
    // Long heads are cut in any case, so that progress shows.
    if (how_.progress) length = std::min<std::size_t>(length, 256);
    for (std::size_t b = 0; b < shape_.batch; ++b)
      for (std::size_t h = 0; h < shape_.key_value_heads; ++h)
        for (std::size_t i = 0; i < shape_.queries; i += length) {
          const part p{b, h, i, std::min(i + length, shape_.queries)};
          bool wanted = false;
          for_each_head(p, [&](std::size_t query_head) {
            wanted = wanted || asked_for(b, query_head, p.first, p.last).first < asked_for(b, query_head, p.first, p.last).second;
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
  std::pair<std::size_t, std::size_t> asked_for(std::size_t b, std::size_t h, std::size_t first, std::size_t last) const {
    const std::size_t start = (b * shape_.query_heads + h) * shape_.queries;
    const std::size_t from = std::max(start + first, first_row_);
    const std::size_t to = std::min(start + last, last_row_);
    if (from >= to) return {first, first};
    return {from - start, to - start};
  }

  void do_part(const part& p, worker& w) {
    if (!w.packed || w.b != p.b || w.head != p.head) {
      pack(in_.k, p.b, p.head, 0, shape_.keys, w.k);
      pack(in_.v, p.b, p.head, 0, shape_.keys, w.v);
      w.packed = true;
      w.b = p.b;
      w.head = p.head;
    }
    for_each_head(p, [&](std::size_t h) {
      const auto [first, last] = asked_for(p.b, h, p.first, p.last);
      if (first == last) return;
      pack(in_.q, p.b, h, first, last, w.q);
      for (std::size_t i = first; i < last; ++i) {
        do_row(p.b, h, i, i - first, w);
        report(1);
      }
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

  score_options steps_of(std::size_t h) const {
    score_options steps{options_.scale, options_.softcap, {}, {}};
    if (!options_.alibi_slopes.empty()) steps.slope = options_.alibi_slopes[h];
    if (!options_.sinks.empty()) steps.sink = options_.sinks[h];
    return steps;
  }

  void do_row(std::size_t b, std::size_t h, std::size_t i, std::size_t query, worker& w) {
    row_view row;
    row.q = &w.q;
    row.query = query;
    row.k = &w.k;
    row.v = &w.v;
    const visibility::key_range keys = visible_.keys(b, i);
    row.first = keys.first;
    row.last = keys.last;
    row.position = visible_.position(b, i);
    row.steps = steps_of(h);
    std::size_t seen = keys.last - keys.first;
    if (options_.mask || bias_) {
      w.sees.assign(seen, 0);
      w.bias.assign(seen, 0);
      seen = 0;
      for (std::size_t j = keys.first; j < keys.last; ++j) {
        if (!visible_(b, h, i, j)) continue;
        w.sees[j - keys.first] = 1;
        ++seen;
        if (bias_) w.bias[j - keys.first] = (*bias_)(b, h, i, j);
      }
      row.visible = w.sees.data();
      if (bias_) row.bias = w.bias.data();
    }
    if (seen == 0 && !row.steps.sink) return empty_row(b, h, i, w);
    exact_tiers(b, h, i, row, w);
  }

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
      if (how_.saturate) pattern = f.largest;
      if (!plus) pattern |= f.sign_bit();
      write_known({b, h, i, 0}, *log_sum_exp_, pattern, w);
    }
  }

  /// A value that needs no calculation, and its low word 0.
  void write_known(const std::array<std::size_t, 4>& at, const result_array& array, std::uint64_t pattern, worker& w) const {
    array.write(at, pattern, certificate::exact);
    ++w.counts.settled[static_cast<std::size_t>(reference_tier::symbolic)];
    ++w.counts.exact;
    if (array.has_low()) array.write_low(at, 0);
  }

  void exact_tiers(std::size_t b, std::size_t h, std::size_t i, const row_view& row, worker& w) {
    row_engine engine(row, limits_);
    for (std::size_t c = 0; c < shape_.value_width; ++c)
      settle(reference_array::output, {b, h, i, c}, output_, w,
             [&](const target& to, const unbounded_dyadic* less) { return engine.output(c, to, less); });
    if (weights_)
      for (std::size_t j = 0; j < shape_.keys; ++j) {
        const std::array<std::size_t, 4> at{b, h, i, j};
        if (j < row.first || j >= row.last || !row.sees(j))
          write_known(at, *weights_, 0, w);
        else
          settle(reference_array::weights, at, *weights_, w,
                 [&](const target& to, const unbounded_dyadic* less) { return engine.weight(j, to, less); });
      }
    if (log_sum_exp_)
      settle(reference_array::log_sum_exp, {b, h, i, 0}, *log_sum_exp_, w,
             [&](const target& to, const unbounded_dyadic* less) {
               return engine.log_sum_exp(options_.log_sum_exp->base, to, less);
             });
  }

  /// Rounds an element with the exact tiers, and its low word.
  template <class Round>
  void settle(reference_array which, const std::array<std::size_t, 4>& at, const result_array& array, worker& w, Round round) {
    const verdict v = round(target{&array.to(), how_.direction, how_.saturate}, nullptr);
    array.write(at, v.pattern, v.how);
    count(v, w);
    if (v.how == certificate::undecided) note_undecided({which, false, at, v.lower, v.upper});
    if (array.has_low()) low_word(which, at, array, v.pattern, w, round);
  }

  template <class Round>
  void low_word(reference_array which, const std::array<std::size_t, 4>& at, const result_array& array, std::uint64_t pattern,
                worker& w, Round round) {
    const auto high = value_of_pattern(pattern, array.to());
    if (!high) return array.write_low(at, 0);
    const verdict v = round(target{&formats::binary32}, &*high);
    array.write_low(at, v.pattern);
    w.counts.most_bits = std::max(w.counts.most_bits, v.bits);
    if (v.how != certificate::undecided) return;
    ++w.counts.undecided;
    note_undecided({which, true, at, v.lower, v.upper});
  }

  static void count(const verdict& v, worker& w) {
    w.counts.most_bits = std::max(w.counts.most_bits, v.bits);
    if (v.how == certificate::undecided) {
      ++w.counts.undecided;
      return;
    }
    ++w.counts.settled[static_cast<std::size_t>(v.tier)];
    if (v.how == certificate::exact) ++w.counts.exact;
  }

  void note_undecided(undecided_element element) {
    const std::lock_guard lock(mutex_);
    undecided_.push_back(std::move(element));
  }

  const certified_inputs& in_;
  const attention_options& options_;
  const attention_shape& shape_;
  const certified_options& how_;
  visibility visible_;
  result_array output_;
  std::optional<result_array> weights_;
  std::optional<result_array> log_sum_exp_;
  std::optional<any_tensor> bias_;
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
                                          const certified_results& results, const certified_options& options) {
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
