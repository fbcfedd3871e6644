#include "array_check.hpp"

#include "arguments.hpp"

#include <attest/io/input_error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attest::tools {

namespace {

using io::host_array;
using io::input_error;
using io::json::kind;
using io::json::value;

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool is_low_word(const std::string& name) { return name.ends_with("_low"); }

class checker {
 public:
  checker(const array_check_request& request, check_report& report)
      : request_(request),
        report_(report),
        reference_(io::open_arrays(request.reference)),
        candidate_(io::open_arrays(request.candidate)),
        case_options_(request.options) {
    if (!reference_->provenance().empty()) read_provenance();
    // What is called Q, K, V, ... is of the case, everything else of the candidate.
    const auto split = [&](std::vector<std::string>& all,
                           std::vector<std::pair<std::string, std::string>>& own, const char* option,
                           const char* example) {
      std::erase_if(all, [&](const std::string& text) {
        const auto [name, content] = assignment(text, option, example);
        if (reference_->find(name) == nullptr) return false;
        own.emplace_back(name, content);
        return true;
      });
    };
    split(case_options_.names, names_, "--name", "Q=NAME");
    split(case_options_.dtypes, dtypes_, "--dtype", "K=bfloat16");
  }

  void check() {
    std::vector<const io::array_info*> wanted;
    for (const io::array_info& a : reference_->arrays())
      if (!is_low_word(a.name)) wanted.push_back(&a);
    for (const std::string& name : request_.only)
      if (reference_->find(name) == nullptr)
        throw input_error("--only: " + report_.reference + " has no array " + name);
    std::vector<std::string> used;
    for (const io::array_info* a : wanted) {
      if (!request_.only.empty() &&
          std::find(request_.only.begin(), request_.only.end(), a->name) == request_.only.end()) {
        report_.left_out.push_back(a->name);
        continue;
      }
      const io::array_info* c = candidate_array(a->name, wanted);
      if (c == nullptr) {
        report_.missing.push_back(a->name);
        continue;
      }
      used.push_back(c->name);
      compare(*a, *c);
    }
    for (const io::array_info& a : candidate_->arrays())
      if (std::find(used.begin(), used.end(), a.name) == used.end() && !is_low_word(a.name))
        report_.extra.push_back(a.name);
    if (report_.arrays.empty() && report_.missing.empty())
      throw input_error(report_.reference + ": it has no array to compare");
  }

 private:
  void read_provenance() {
    try {
      provenance_ = io::json::parse(reference_->provenance());
    } catch (const io::json::syntax_error& e) {
      throw input_error(report_.reference + ": what attest wrote beside the arrays: " + e.what());
    }
    if (provenance_.find("rows") != nullptr)
      throw input_error(report_.reference + ": it is a part: merge the parts first (attest merge)");
    const value* options = provenance_.find("options");
    if (options == nullptr || options->type != kind::object) return;
    io::read_options(*options, written_attention_, written_output_, report_.reference + ": ");
    certified_ = true;
  }

  // The candidate's array of this name, in the reference's case or lower, or the only one that it has.
  const io::array_info* candidate_array(const std::string& name,
                                        const std::vector<const io::array_info*>& wanted) const {
    for (const auto& [to, from] : names_)
      if (to == name) {
        if (const io::array_info* a = candidate_->find(from)) return a;
        throw input_error("--name: " + report_.candidate + " has no array " + from);
      }
    for (const std::string& spelled : {name, lower(name), "expected." + name})
      if (const io::array_info* a = candidate_->find(spelled)) return a;
    if (name.starts_with("expected."))
      if (const io::array_info* a = candidate_->find(name.substr(9))) return a;
    if (candidate_->arrays().size() != 1) return nullptr;
    const io::array_info& only = candidate_->arrays()[0];
    if (reference_->find(only.name) != nullptr) return nullptr;
    // A file of one array with a name of its own is what was asked for, or the output.
    const bool chosen =
        !request_.only.empty() ? request_.only.size() == 1 : wanted.size() == 1 || name == "output";
    return chosen ? &only : nullptr;
  }

  host_array load(const io::array_file& file, const std::string& name, const std::string& called) const {
    host_array a = file.load(name);
    const std::string where = file.name() + ": array " + name + ": ";
    bool typed = false;
    if (&file == candidate_.get())
      for (const auto& [array, type] : dtypes_)
        if (array == called) {
          a = io::reinterpreted(std::move(a), type, where);
          typed = true;
        }
    const bool is_unsigned = a.type == dtype::uint8 || a.type == dtype::uint16 || a.type == dtype::uint32 ||
                             a.type == dtype::uint64;
    if (a.untyped || (is_unsigned && !typed && &file == candidate_.get() &&
                      format_of(reference_->find(called)->type) != nullptr))
      throw input_error(
          where + "its elements are " + to_string(a.type) +
          ", in which files without such a type keep floats: say what they are, as in --dtype " + called +
          "=bfloat16");
    return a;
  }

  void compare(const io::array_info& reference, const io::array_info& candidate) {
    const host_array r = load(*reference_, reference.name, reference.name);
    const host_array c = load(*candidate_, candidate.name, reference.name);
    array_reference known;
    known.shape = r.shape;
    known.high = io::exact_doubles(r, report_.reference + ": array " + r.name + ": ");
    known.written = format_of(r.type);
    known.saturate = certified_ && written_output_.saturate;
    if (const io::array_info* low = reference_->find(reference.name + "_low")) {
      const host_array words = reference_->load(low->name);
      if (words.shape != r.shape)
        throw input_error(report_.reference + ": array " + low->name + ": shape " + shape_text(words.shape) +
                          " is not that of " + r.name);
      known.low = io::exact_doubles(words, report_.reference + ": array " + low->name + ": ");
      for (const double l : known.low)
        if (!std::isfinite(l))
          throw input_error(report_.reference + ": array " + low->name + ": an element is NaN or infinite");
    }
    const std::vector<double> values = io::exact_doubles(c, report_.candidate + ": array " + c.name + ": ");
    array_comparison result = compare_arrays(known, {c.shape, values}, format_of(c.type),
                                             {request_.allowed.absolute, request_.allowed.ulp});
    checked_array array{
        reference.name, {r.shape, known.high, {}}, {c.shape, values, {}}, std::nullopt, result, {}, {}, {}};
    array.layout = result.layout;
    if (result.same_shape()) {
      std::vector<std::size_t> places = result.worst;
      for (const occurrences& o : {result.different, result.past_absolute, result.past_ulp,
                                   result.nan_mismatches, result.infinity_mismatches})
        if (o.count > 0) places.push_back(o.first);
      if (result.absolute_error) places.push_back(result.absolute_error->at);
      if (result.ulp_distance) places.push_back(result.ulp_distance->at);
      if (!request_.cases.empty())
        recompute(reference.name, known, places, array);
      else if (!known.low.empty() ||
               (certified_ && known.written != nullptr &&
                written_output_.direction == rounding::nearest_even && !written_output_.max_bits))
        for (const std::size_t at : places) array.enclosures[at] = enclosure_text(known, at);
    }
    array.measured = std::move(result);
    report_.arrays.push_back(std::move(array));
  }

  // The rows of these elements from the inputs, in binary64 with low words.
  void recompute(const std::string& name, const array_reference& known,
                 const std::vector<std::size_t>& places, checked_array& array) {
    if (name != "output" && name != "lse" && name != "weights") return;
    if (!case_) {
      const value* options = provenance_.find("options");
      case_.emplace(read_array_problem(request_.cases, case_options_,
                                       options == nullptr ? std::nullopt : std::optional(*options)));
      inputs_ = inputs_of(case_->arrays);
      if (!inputs_)
        throw input_error(request_.cases[0] + ": its Q, K or V are no binary64: leave --case out");
    }
    const attention_shape shape =
        checked_shape(inputs_->inputs.q, inputs_->inputs.k, inputs_->inputs.v, case_->attention);
    const std::size_t rows = shape.batch * shape.query_heads * shape.queries;
    const std::size_t width = name == "lse" ? 1 : name == "output" ? shape.value_width : shape.keys;
    if (rows * width != known.high.size())
      throw input_error(request_.cases[0] + ": array " + name + " of this case has " +
                        std::to_string(rows * width) + " elements, and the reference's " +
                        std::to_string(known.high.size()));
    std::vector<double> output(rows * shape.value_width), lse(rows),
        weights(name == "weights" ? rows * shape.keys : 0);
    std::vector<float> output_low(output.size()), lse_low(rows), weights_low(weights.size());
    const layout outputs{shape.batch, shape.query_heads, shape.queries, shape.value_width};
    const layout ones{shape.batch, shape.query_heads, shape.queries, 1};
    const layout all{shape.batch, shape.query_heads, shape.queries, shape.keys};
    certified_results results;
    results.output = any_result(output.data(), dtype::binary64, outputs);
    results.output_low = any_result(output_low.data(), dtype::binary32, outputs);
    attention_options attention = case_->attention;
    if (name == "lse") {
      results.log_sum_exp = any_result(lse.data(), dtype::binary64, ones);
      results.log_sum_exp_low = any_result(lse_low.data(), dtype::binary32, ones);
    } else {
      attention.log_sum_exp.reset();
    }
    if (name == "weights") {
      results.weights = any_result(weights.data(), dtype::binary64, all);
      results.weights_low = any_result(weights_low.data(), dtype::binary32, all);
    }
    const std::vector<double>& high = name == "output" ? output : name == "lse" ? lse : weights;
    const std::vector<float>& low = name == "output" ? output_low : name == "lse" ? lse_low : weights_low;
    for (const std::size_t at : places) {
      certified_options options;
      options.rows = {at / width, at / width + 1};
      const certification counts = certified_attention(inputs_->inputs, attention, results, options);
      if (counts.undecided > 0) continue;
      const array_reference element{
          {1}, {high[at]}, {static_cast<double>(low[at])}, &formats::binary64, false};
      array.enclosures[at] = enclosure_text(element, 0);
      const format& f = known.written != nullptr ? *known.written : formats::binary64;
      const double right = rounded_to(high[at], static_cast<double>(low[at]), f, known.saturate);
      const bool agrees = right == known.high[at] || (std::isnan(right) && std::isnan(known.high[at]));
      if (certified_ && written_output_.direction == rounding::nearest_even && !agrees)
        throw input_error(report_.reference + ": array " + name + ": element " + index_text(known.shape, at) +
                          " is not what " + request_.cases[0] +
                          " gives: it is a reference of another case, of other options, or damaged");
    }
  }

  const array_check_request& request_;
  check_report& report_;
  std::unique_ptr<io::array_file> reference_;
  std::unique_ptr<io::array_file> candidate_;
  array_options case_options_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::vector<std::pair<std::string, std::string>> dtypes_;
  value provenance_;
  attention_options written_attention_;
  io::output_options written_output_;
  bool certified_ = false;  // whether attest wrote the reference
  std::optional<array_problem> case_;
  std::optional<query_key_value> inputs_;
};

}  // namespace

void check_arrays(const array_check_request& request, check_report& report) {
  try {
    checker(request, report).check();
  } catch (const attention_error& e) {
    throw input_error((request.cases.empty() ? report.reference : request.cases[0]) + ": " + e.what());
  }
}

}  // namespace attest::tools
