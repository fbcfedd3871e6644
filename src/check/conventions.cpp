#include <attest/check/conventions.hpp>

#include <attest/problem/visibility.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <stdexcept>
#include <tuple>

namespace attest {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Multiplications in the scores of all rows beyond which no softmax over the queries is tried.
constexpr double most_column_work = 0x1p34;

// What a change of convention may touch that attention_options cannot say.
struct variant {
  std::string text;
  attention_options options;
  bool tiled_heads = false;
  bool hidden_before_softcap = false;  // hidden keys score -softcap
  bool bias_before_softcap = false;
  bool bias_before_scale = false;
  double alibi_sign = -1;
  unsigned sinks = 1;  // how often the sink counts
  bool lse_without_maximum = false;
  bool lse_without_sink = false;
  bool empty_mean = false;
  bool own_key_hidden = false;   // j < i for j <= i; rows that see no key then may hold anything
  bool to_base_two = false;      // 2^s for e^s
  bool over_queries = false;     // each key's weights add up to 1
  bool not_divided = false;      // weights e^(s - maximum)
  bool without_maximum = false;  // weights e^s
};

// The largest error that fits.
double limit_of(std::span<const double> candidate, const format& f, double own_error) {
  double largest = 0;
  for (const double c : candidate)
    if (std::isfinite(c)) largest = std::max(largest, std::fabs(c));
  const double relative = std::max(0x1p-9, std::ldexp(1.0, 2 - f.fraction_bits()));
  return std::min(own_error / 16, relative * largest);
}

bool within(double expected, double candidate, double limit, double& error) {
  if (std::isnan(expected) || std::isnan(candidate)) return std::isnan(expected) && std::isnan(candidate);
  if (std::isinf(expected) || std::isinf(candidate)) return expected == candidate;
  const double e = std::fabs(expected - candidate);
  error = std::max(error, e);
  return e <= limit;
}

class searcher {
 public:
  searcher(const convention_case& meant, reference_array which, std::span<const double> candidate)
      : meant_(meant),
        which_(which),
        candidate_(candidate),
        shape_(checked_shape(meant.q, meant.k, meant.v, meant.options)),
        width_(which == reference_array::output        ? shape_.value_width
               : which == reference_array::log_sum_exp ? 1
                                                    : shape_.keys) {
    if (candidate.size() != shape_.batch * shape_.query_heads * shape_.queries * width_)
      throw std::invalid_argument("the candidate has not as many elements as this array of the case");
  }

  convention_search run(const format& f, double own_error, std::span<const std::size_t> places) {
    convention_search result;
    result.all_rows = shape_.batch * shape_.query_heads * shape_.queries;
    choose_rows(result.all_rows, places);
    result.rows = rows_.size();
    q_ = elements(meant_.q);
    k_ = elements(meant_.k);
    v_ = elements(meant_.v);
    limit_ = infinity;
    double as_meant = 0;
    if (!fits({.text = {}, .options = meant_.options}, as_meant)) as_meant = infinity;
    result.fits_as_meant = as_meant <= limit_of(candidate_, f, own_error);
    // What changes nothing has the very error of the options as they are, and is no 1/16 of it.
    const double to_explain = std::min(own_error, as_meant);
    limit_ = limit_of(candidate_, f, to_explain);
    add_positions();
    add_hiding();
    add_scores();
    add_softmax();
    add_sinks_and_lse();
    result.tried = variants_.size();
    if (to_explain == 0) return result;
    std::vector<std::tuple<double, std::size_t, std::string>>
        found;  // the largest error, the place in the list
    for (const variant& v : variants_) {
      double error = 0;
      try {
        if (fits(v, error)) found.emplace_back(error, found.size(), v.text);
      } catch (const attention_error&) {
        // A change that these arrays do not allow explains nothing.
      }
    }
    std::sort(found.begin(), found.end());
    for (const auto& [error, place, text] : found) result.fitting.push_back(text);
    if (!result.fitting.empty()) result.fits_as_meant = false;
    return result;
  }

 private:
  // All rows, or so many of them that the work is within its limit: one of each of as many equal parts, at
  // changing places in them, and those of the elements asked for.
  void choose_rows(std::size_t all, std::span<const std::size_t> places) {
    constexpr std::size_t softmax = 32;  // an exponential and its visibility, in multiplications
    const double row = static_cast<double>(shape_.keys) *
                       static_cast<double>(shape_.key_width + shape_.value_width + softmax);
    const double affordable = std::max(1.0, std::floor(most_convention_work / std::max(row, 1.0)));
    if (affordable >= static_cast<double>(all)) {
      for (std::size_t r = 0; r < all; ++r) rows_.push_back(r);
      return;
    }
    std::set<std::size_t> chosen;
    const double part = static_cast<double>(all) / affordable;
    for (double k = 0; k < affordable; ++k) {
      const double within_part = std::fmod(k * std::numbers::phi, 1.0);
      chosen.insert(std::min(all - 1, static_cast<std::size_t>((k + within_part) * part)));
    }
    for (const std::size_t at : places)
      if (at < candidate_.size()) chosen.insert(at / width_);
    rows_.assign(chosen.begin(), chosen.end());
  }

  // By rows, as doubles.
  static std::vector<double> elements(const any_tensor& a) {
    const auto& e = a.where().extents;
    std::vector<double> all;
    all.reserve(e[0] * e[1] * e[2] * e[3]);
    for (std::size_t b = 0; b < e[0]; ++b)
      for (std::size_t h = 0; h < e[1]; ++h)
        for (std::size_t t = 0; t < e[2]; ++t)
          for (std::size_t c = 0; c < e[3]; ++c) all.push_back(a(b, h, t, c));
    return all;
  }

  variant& add(const std::string& text) {
    variants_.push_back({.text = text, .options = meant_.options});
    return variants_.back();
  }

  void add_positions() {
    const attention_options& o = meant_.options;
    const bool square = shape_.queries == shape_.keys;
    if (o.past_keys.value_or(0) != 0) {
      attention_options& changed = add("past keys ignored").options;
      changed.past_keys = 0;
      changed.corner.reset();
    }
    const auto named = [](causal_corner c) {
      return c == causal_corner::top_left ? "top_left" : "bottom_right";
    };
    const bool positioned = o.causal || o.window || !o.alibi_slopes.empty();
    for (const causal_corner corner : {causal_corner::top_left, causal_corner::bottom_right}) {
      // Without past keys the queries stand at the top left.
      const bool told = o.past_keys && corner == causal_corner::top_left;
      if (positioned && !told && (!square || !o.key_lengths.empty() || o.past_keys) && o.corner != corner) {
        const std::string instead =
            o.corner ? named(*o.corner) : "past_keys " + std::to_string(o.past_keys.value_or(0));
        attention_options& changed =
            add(std::string("causal corner ") + named(corner) + " instead of " + instead).options;
        changed.corner = corner;
        changed.past_keys.reset();
      }
      if (o.causal) continue;
      if (square && corner == causal_corner::bottom_right) continue;
      if (o.corner && o.corner != corner) continue;
      attention_options& changed =
          add(square || o.corner || o.past_keys
                  ? "causal instead of not causal"
                  : std::string("causal (corner ") + named(corner) + ") instead of not causal")
              .options;
      changed.causal = true;
      if (!square && !o.past_keys) changed.corner = corner;
    }
    if (o.causal) {
      // A window that ends at the query keeps attention causal.
      const bool limited = o.window && o.window->right;
      if (!limited || *o.window->right > 0) add("not causal instead of causal").options.causal = false;
      if (limited) {
        attention_options& changed = add("not causal and no window right instead of causal").options;
        changed.causal = false;
        changed.window->right.reset();
        if (!changed.window->left) changed.window.reset();
      }
      attention_options& further = add("causal one key too far (j <= i + 1)").options;
      further.causal = false;
      if (!further.window) further.window.emplace();
      further.window->right = 1;
      add("causal one key too short (j < i)").own_key_hidden = true;
    }
    if (!o.window) return;
    add("window dropped").options.window.reset();
    const auto side = [&](std::optional<std::size_t> key_window::*which, const char* name) {
      const std::optional<std::size_t> limit = *o.window.*which;
      if (!limit) return;
      for (const int step : {-1, 1}) {
        if (step < 0 && *limit == 0) continue;
        const std::size_t other = step < 0 ? *limit - 1 : *limit + 1;
        add(std::string("window ") + name + " " + std::to_string(other) + " instead of " +
            std::to_string(*limit))
                .options.window.value().*
            which = other;
      }
    };
    side(&key_window::left, "left");
    side(&key_window::right, "right");
  }

  void add_hiding() {
    const attention_options& o = meant_.options;
    if (o.mask) {
      add("mask ignored").options.mask.reset();
      const any_tensor& m = *o.mask;
      const auto& e = m.where().extents;
      for (std::size_t b = 0; b < e[0]; ++b)
        for (std::size_t h = 0; h < e[1]; ++h)
          for (std::size_t i = 0; i < e[2]; ++i)
            for (std::size_t j = 0; j < e[3]; ++j) inverted_.push_back(m(b, h, i, j) == 0 ? 1 : 0);
      layout where{e[0], e[1], e[2], e[3]};
      where.rank = m.where().rank;
      add("mask inverted (true hides the key)").options.mask =
          any_tensor(inverted_.data(), dtype::boolean, where);
    }
    if (!o.key_lengths.empty()) add("key lengths ignored").options.key_lengths.clear();
    if (o.empty_row == empty_row_policy::zero) {
      add("rows that see no key NaN instead of zero").options.empty_row = empty_row_policy::nan;
    } else if (o.empty_row == empty_row_policy::nan) {
      add("rows that see no key zero instead of NaN").options.empty_row = empty_row_policy::zero;
    }
    if (o.empty_row) add("rows that see no key the mean of all values").empty_mean = true;
    if (shape_.key_value_heads > 1 && shape_.key_value_heads < shape_.query_heads)
      add("grouped heads tiled (head h reads h % Hkv) instead of repeated (h / (Hq / Hkv))").tiled_heads =
          true;
  }

  void add_scores() {
    const attention_options& o = meant_.options;
    const auto root = [](std::size_t d) { return 1 / std::sqrt(static_cast<double>(d)); };
    const double usual = root(shape_.key_width);
    const double scale = o.scale.value_or(usual);
    std::set<double> tried{scale};
    const std::string instead = o.scale ? " instead of the given one" : " instead of 1/sqrt(d_k)";
    const auto other = [&](const std::string& name, double value) {
      if (std::isfinite(value) && tried.insert(value).second)
        add("scale " + name + instead).options.scale = value;
    };
    other("1", 1);
    if (shape_.key_width > 0) {
      other("1/sqrt(d_k)", usual);
      other("1/sqrt(d_model) with d_model = d_k Hq", root(shape_.key_width * shape_.query_heads));
      other("1/d_k", 1 / static_cast<double>(shape_.key_width));
    }
    if (shape_.value_width > 0) other("1/sqrt(d_v)", root(shape_.value_width));
    if (o.scale) other("applied twice", scale * scale);
    if (o.softcap) {
      add("softcap dropped").options.softcap.reset();
      add("softcap after the mask (hidden keys score -softcap)").hidden_before_softcap = true;
      if (o.bias) add("bias before the softcap instead of after it").bias_before_softcap = true;
    }
    if (o.bias) {
      add("bias dropped").options.bias.reset();
      add("bias before the scale instead of after it").bias_before_scale = true;
    }
    if (!o.alibi_slopes.empty()) {
      add("ALiBi slopes of the other sign").alibi_sign = 1;
      add("ALiBi dropped").options.alibi_slopes.clear();
    }
  }

  // What these make of a log-sum-exp is anybody's guess.
  void add_softmax() {
    if (which_ == reference_array::log_sum_exp) return;
    add("2^s instead of e^s (exp2 without the factor log2(e))").to_base_two = true;
    add("not divided by the sum of the weights").not_divided = true;
    variant& plain = add("not divided by the sum of the weights, the largest score not subtracted");
    plain.not_divided = true;
    plain.without_maximum = true;
    // Needs every row of the heads of rows_.
    double scores = 1;
    for (const std::size_t extent :
         {shape_.batch, shape_.query_heads, shape_.queries, shape_.keys, shape_.key_width + 16})
      scores *= static_cast<double>(extent);
    if (meant_.options.sinks.empty() && scores <= most_column_work)
      add("softmax over the queries instead of the keys").over_queries = true;
  }

  void add_sinks_and_lse() {
    const attention_options& o = meant_.options;
    if (!o.sinks.empty()) {
      add("sink dropped").options.sinks.clear();
      add("sink counted twice").sinks = 2;
      if (which_ == reference_array::log_sum_exp) add("log-sum-exp without the sink").lse_without_sink = true;
    }
    if (which_ != reference_array::log_sum_exp || !o.log_sum_exp) return;
    const bool two = o.log_sum_exp->base == log_sum_exp_base::two;
    add(two ? "log-sum-exp to the base e instead of 2" : "log-sum-exp to the base 2 instead of e")
        .options.log_sum_exp->base = two ? log_sum_exp_base::e : log_sum_exp_base::two;
    add("log-sum-exp without the row's largest score").lse_without_maximum = true;
  }

  std::size_t key_row(std::size_t b, std::size_t g, std::size_t j) const {
    return (b * shape_.key_value_heads + g) * shape_.keys + j;
  }

  // The scores of a row, -infinity for hidden keys; returns the largest.
  double score_row(const variant& v, const visibility& visible, const std::optional<any_tensor>& bias,
                   std::size_t row, std::vector<double>& scores) const {
    const attention_options& o = v.options;
    const auto [b, h, i] = place_of(row);
    const std::size_t g = key_head(v, h);
    const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(shape_.key_width)));
    const std::size_t ends = o.key_lengths.empty() ? shape_.keys : o.key_lengths[b];
    double greatest = -infinity;
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      scores[j] = -infinity;
      if (!visible(b, h, i, j) ||
          (v.own_key_hidden && static_cast<std::ptrdiff_t>(j) >= visible.position(b, i))) {
        if (v.hidden_before_softcap && j < ends) scores[j] = -*o.softcap;
      } else {
        double s = 0;
        const double* const q = q_.data() + row * shape_.key_width;
        const double* const k = k_.data() + key_row(b, g, j) * shape_.key_width;
        for (std::size_t c = 0; c < shape_.key_width; ++c) s += q[c] * k[c];
        const double added = bias ? (*bias)(b, h, i, j) : 0;
        if (v.bias_before_scale) s += added;
        s *= scale;
        if (v.bias_before_softcap) s += added;
        if (o.softcap) s = *o.softcap * std::tanh(s / *o.softcap);
        if (!v.bias_before_scale && !v.bias_before_softcap) s += added;
        if (!o.alibi_slopes.empty()) {
          const auto distance = visible.position(b, i) - static_cast<std::ptrdiff_t>(j);
          s += v.alibi_sign * o.alibi_slopes[h] * std::fabs(static_cast<double>(distance));
        }
        scores[j] = v.to_base_two ? s * std::numbers::ln2 : s;
      }
      greatest = std::max(greatest, scores[j]);
    }
    return greatest;
  }

  std::array<std::size_t, 3> place_of(std::size_t row) const {
    const std::size_t head = row / shape_.queries;
    return {head / shape_.query_heads, head % shape_.query_heads, row % shape_.queries};
  }

  std::size_t key_head(const variant& v, std::size_t h) const {
    return v.tiled_heads ? h % shape_.key_value_heads : shape_.key_value_head(h);
  }

  bool fits(const variant& v, double& error) const {
    const attention_options& o = v.options;
    checked_shape(meant_.q, meant_.k, meant_.v, o);
    const visibility visible(shape_, o);
    const std::array<std::size_t, 4> all{shape_.batch, shape_.query_heads, shape_.queries, shape_.keys};
    std::optional<any_tensor> bias;
    if (o.bias) bias = broadcast(*o.bias, all, "bias");
    std::vector<double> scores(shape_.keys);
    std::vector<double> output(shape_.value_width);
    std::vector<double> of_keys(v.over_queries ? shape_.keys : 0);  // log-sum-exp over the queries
    std::size_t head_of_keys = static_cast<std::size_t>(-1);
    bool compared = false;
    for (const std::size_t row : rows_) {
      if (v.over_queries && row / shape_.queries != head_of_keys) {
        head_of_keys = row / shape_.queries;
        sum_over_queries(v, visible, bias, head_of_keys, of_keys);
      }
      const double greatest = score_row(v, visible, bias, row, scores);
      if (v.own_key_hidden && greatest == -infinity) continue;
      compared = true;
      if (v.over_queries)
        for (std::size_t j = 0; j < shape_.keys; ++j)
          scores[j] = scores[j] == -infinity ? 0 : std::exp(scores[j] - of_keys[j]);
      if (!row_fits(v, row, greatest, scores, output, error)) return false;
    }
    return compared;
  }

  // Of each key: the log-sum-exp of its scores with all queries of a head.
  void sum_over_queries(const variant& v, const visibility& visible, const std::optional<any_tensor>& bias,
                        std::size_t head, std::vector<double>& of_keys) const {
    std::vector<double> scores(shape_.keys), sums(shape_.keys, 0.0);
    std::fill(of_keys.begin(), of_keys.end(), -infinity);  // the largest so far
    for (std::size_t i = 0; i < shape_.queries; ++i) {
      score_row(v, visible, bias, head * shape_.queries + i, scores);
      for (std::size_t j = 0; j < shape_.keys; ++j) {
        if (scores[j] == -infinity) continue;
        if (scores[j] > of_keys[j]) {
          sums[j] = sums[j] * std::exp(of_keys[j] - scores[j]) + 1;
          of_keys[j] = scores[j];
        } else {
          sums[j] += std::exp(scores[j] - of_keys[j]);
        }
      }
    }
    for (std::size_t j = 0; j < shape_.keys; ++j) of_keys[j] += std::log(sums[j]);
  }

  // `weights` are scores on entry, but weights already where the softmax is over the queries.
  bool row_fits(const variant& v, std::size_t row, double greatest, std::vector<double>& weights,
                std::vector<double>& output, double& error) const {
    const attention_options& o = v.options;
    const auto [b, h, i] = place_of(row);
    const std::size_t g = key_head(v, h);
    const bool sink = !o.sinks.empty();
    const double largest_key = greatest;
    const double sink_score = !sink ? 0 : v.to_base_two ? o.sinks[h] * std::numbers::ln2 : o.sinks[h];
    if (sink) greatest = std::max(greatest, sink_score);
    double sum = 0;
    double of_keys = 0;
    const bool empty = greatest == -infinity;
    if (v.over_queries) {
      // Nothing is left to do.
    } else if (!empty) {
      const double subtracted = v.without_maximum ? 0 : greatest;
      for (double& w : weights) of_keys += w = std::exp(w - subtracted);
      sum = of_keys + (sink ? v.sinks * std::exp(sink_score - subtracted) : 0);
      if (!v.not_divided)
        for (double& w : weights) w /= sum;
    } else {
      const double w = v.empty_mean                           ? 1 / static_cast<double>(shape_.keys)
                       : o.empty_row == empty_row_policy::nan ? std::numeric_limits<double>::quiet_NaN()
                                                              : 0;
      std::fill(weights.begin(), weights.end(), w);
    }
    const auto candidate = candidate_.subspan(row * width_, width_);
    if (which_ == reference_array::log_sum_exp) {
      const bool plus = o.log_sum_exp && o.log_sum_exp->empty == empty_log_sum_exp::plus_infinity;
      double lse = empty ? plus ? infinity : -infinity : std::log(v.lse_without_sink ? of_keys : sum);
      if (!empty && !v.lse_without_maximum) lse += greatest;
      if (!empty && v.lse_without_sink && largest_key == -infinity) lse = -infinity;
      if (o.log_sum_exp && o.log_sum_exp->base == log_sum_exp_base::two) lse /= std::numbers::ln2;
      return within(lse, candidate[0], limit_, error);
    }
    if (which_ == reference_array::output) {
      std::fill(output.begin(), output.end(), 0.0);
      // A key without weight may hold anything.
      for (std::size_t j = 0; j < shape_.keys; ++j)
        if (weights[j] != 0) {
          const double* const values = v_.data() + key_row(b, g, j) * shape_.value_width;
          for (std::size_t c = 0; c < shape_.value_width; ++c) output[c] += weights[j] * values[c];
        }
    }
    const std::vector<double>& row_values = which_ == reference_array::output ? output : weights;
    for (std::size_t c = 0; c < width_; ++c)
      if (!within(row_values[c], candidate[c], limit_, error)) return false;
    return true;
  }

  const convention_case& meant_;
  reference_array which_;
  std::span<const double> candidate_;
  double limit_ = infinity;  // the largest error that fits
  attention_shape shape_;
  std::size_t width_;
  std::vector<std::size_t> rows_;  // that are looked at, ascending
  std::vector<double> q_, k_, v_;
  std::vector<unsigned char> inverted_;
  std::vector<variant> variants_;
};

// "head 1", "heads 1 and 2", "rows 5 to 63", or nothing.
std::string named(const std::set<std::size_t>& which, const std::string& one) {
  if (which.size() == 1) return one + ' ' + std::to_string(*which.begin());
  const std::string many = one + "s ";
  const std::size_t first = *which.begin(), last = *which.rbegin();
  if (which.size() > 2 && last - first + 1 == which.size())
    return many + std::to_string(first) + " to " + std::to_string(last);
  constexpr std::size_t most = 6;
  if (which.size() > most) return {};
  std::string list;
  std::size_t left = which.size();
  for (const std::size_t k : which) {
    list += std::to_string(k);
    --left;
    list += left == 0 ? "" : left == 1 ? " and " : ", ";
  }
  return many + list;
}

}  // namespace

convention_search fitting_conventions(const convention_case& meant, reference_array which,
                                      std::span<const double> candidate, const format& candidate_format,
                                      double own_error, std::span<const std::size_t> places) {
  return searcher(meant, which, candidate).run(candidate_format, own_error, places);
}

std::string fitting_base(std::span<const double> reference, std::span<const double> candidate,
                         const format& candidate_format, double own_error) {
  if (reference.size() != candidate.size()) throw std::invalid_argument("two arrays of different sizes");
  const double limit = limit_of(candidate, candidate_format, own_error);
  const auto fits = [&](double factor) {
    double error = 0;
    for (std::size_t i = 0; i < reference.size(); ++i)
      if (!within(reference[i] * factor, candidate[i], limit, error)) return false;
    return !reference.empty();
  };
  if (fits(1 / std::numbers::ln2)) return "the logarithm to the base 2 instead of e";
  if (fits(std::numbers::ln2)) return "the logarithm to the base e instead of 2";
  return {};
}

std::string failures_by_axis(std::span<const std::size_t> shape, std::span<const std::string> axes,
                             std::span<const std::size_t> failing,
                             std::span<const std::size_t> rows_of_one_key) {
  if (failing.size() < 2 || axes.size() != shape.size()) return {};
  std::vector<std::set<std::size_t>> seen(shape.size());
  for (const std::size_t at : failing) {
    std::size_t rest = at;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      seen[axis].insert(rest % shape[axis]);
      rest /= shape[axis];
    }
  }
  std::string places;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (seen[axis].size() == shape[axis]) continue;
    if (axes[axis] == "row") {
      std::set<std::size_t> all = seen[axis];
      for (const std::size_t i : rows_of_one_key)
        if (i < shape[axis]) all.insert(i);
      if (all.size() == shape[axis]) continue;
    }
    const std::string place = named(seen[axis], axes[axis]);
    if (!place.empty()) places += (places.empty() ? "" : ", ") + place;
  }
  return places.empty() ? places : "all " + std::to_string(failing.size()) + " failures are in " + places;
}

std::vector<std::string> axis_names(reference_array which, std::size_t rank) {
  const bool sums = which == reference_array::log_sum_exp;
  std::vector<std::string> axes = {"batch element", "head", "row"};
  if (!sums || rank == 4) axes.push_back(which == reference_array::weights ? "key" : "column");
  if (sums ? rank == 2 : rank == 3) axes.erase(axes.begin() + 1);
  if (sums ? rank == 1 : rank == 2) axes.erase(axes.begin(), axes.begin() + 2);
  return axes;
}

std::vector<std::size_t> rows_of_one_key(const convention_case& meant) {
  const attention_shape s = checked_shape(meant.q, meant.k, meant.v, meant.options);
  const visibility visible(s, meant.options);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < s.queries; ++i) {
    bool none = true;
    for (std::size_t b = 0; b < s.batch; ++b) {
      const auto [first, last] = visible.keys(b, i);
      none = none && last <= first + 1;
    }
    if (none) rows.push_back(i);
  }
  return rows;
}

}  // namespace attest
