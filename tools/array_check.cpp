#include "array_check.hpp"

#include "arguments.hpp"
#include "progress.hpp"

#include <attest/check/attention.hpp>
#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/rounded_array.hpp>
#include <attest/io/sha256.hpp>
#include <attest/problem/one_line.hpp>
#include <attest/problem/visibility.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>

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

constexpr const char* put_under_expected =
    R"(put the arrays under "expected", as in {"expected": {"output": [[1, 0], [0, 1]]}})";

// Low words, and certificates of results, are not compared on their own.
bool is_companion(const std::string& name) { return name.ends_with("_low") || io::is_companion_name(name); }

std::string listed(const std::vector<io::array_info>& arrays) {
  std::string text;
  for (const io::array_info& a : arrays) text += (text.empty() ? "" : ", ") + one_line(a.name);
  return text.empty() ? "none" : text;
}

// Other names under which kernels keep an array of the reference.
bool is_usual_name(const std::string& of, const std::string& spelled) {
  static const std::set<std::string> outputs = {
      "o", "out", "y", "attn_out", "attn_output", "attention_output", "result"};
  static const std::set<std::string> sums = {"l", "logsumexp", "log_sum_exp", "softmax_lse"};
  static const std::set<std::string> weights = {"p", "attn", "probs", "attn_weights", "attention_weights"};
  const std::string name = lower(spelled);
  return name == lower(of) || (of == "output" && outputs.contains(name)) ||
         (of == "lse" && sums.contains(name)) || (of == "weights" && weights.contains(name));
}

std::string name_hint(const std::string& of, const std::string& spelled, bool of_arrays) {
  return "if " + spelled + " of the candidate is its " + of + ": " +
         (of_arrays ? "--name " + of + '=' + spelled : "call it " + of);
}

// What a case may call its arrays.
bool is_input_name(std::string name) {
  for (const char* const suffix : {"_scale", "_descale", "_zero"})
    if (name.ends_with(suffix)) name.erase(name.size() - std::strlen(suffix));
  static const std::set<std::string> all = {"Q",    "K",    "V",     "X",            "Y",          "WQ", "WK",
                                            "WV",   "mask", "bias",  "alibi_slopes", "key_lengths", "sinks"};
  return all.contains(name);
}

// What the array of this name is; that decides how its axes are called.
reference_array array_named(const std::string& name) {
  return name == "lse"       ? reference_array::log_sum_exp
         : name == "weights" ? reference_array::weights
                             : reference_array::output;
}

class checker {
 public:
  checker(const array_check_request& request, check_report& report)
      : request_(request),
        report_(report),
        reference_(io::open_arrays(request.reference)),
        candidate_(io::open_arrays(request.candidate)),
        case_options_(request.options) {
    if (!reference_->provenance().empty()) read_provenance();
    refuse_cases();
    std::vector<std::string> dtypes;
    for (const std::string& list : case_options_.dtypes)
      for (std::size_t from = 0; from <= list.size();) {
        const std::size_t comma = std::min(list.find(',', from), list.size());
        dtypes.push_back(list.substr(from, comma - from));
        from = comma + 1;
      }
    case_options_.dtypes = dtypes;
    // What is called Q, K, V, ... is of the case, everything else of the candidate.
    const auto split = [&](std::vector<std::string>& all,
                           std::vector<std::pair<std::string, std::string>>& own, const char* option,
                           const char* example) {
      std::erase_if(all, [&](const std::string& text) {
        const auto [name, content] = assignment(text, option, example);
        if (reference_->find(name) == nullptr) {
          if (is_input_name(name) && (!request_.cases.empty() || option == std::string("--dtype"))) return false;
          throw input_error(std::string(option) + ": " + report_.reference + " has no array " + name +
                            ": it has " + listed(reference_->arrays()));
        }
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
      if (is_asked_for(a.name) || (a.readable && !is_companion(a.name)))
        wanted.push_back(&a);
      else if (!a.readable)
        report_.unused.push_back(a.name + " of " + report_.reference);
    for (const std::string& name : request_.only)
      if (reference_->find(name) == nullptr)
        throw input_error("--only: " + report_.reference + " has no array " + name + ": it has " +
                          listed(reference_->arrays()));
    for (const auto& [name, allowed] : report_.allowed.named()) {
      const std::string option = allowed.numbers.weighted_v ? "--weighted-v"
                                 : allowed.numbers.absolute ? "--abs"
                                                            : "--ulp";
      if (reference_->find(name) == nullptr)
        throw input_error(option + ": " + report_.reference + " has no array " + name + ": it has " +
                          listed(reference_->arrays()));
      if (!request_.only.empty() && !is_asked_for(name))
        throw input_error(option + ": array " + name + " is none of those that --only takes");
    }
    sort_out_keys();
    if (!request_.cases.empty()) load_case();
    std::vector<std::string> used;
    for (const io::array_info* a : wanted) {
      if (!request_.only.empty() &&
          std::find(request_.only.begin(), request_.only.end(), a->name) == request_.only.end()) {
        report_.left_out.push_back(a->name);
        for (const std::string& spelled : {a->name, lower(a->name), "expected." + a->name})
          used.push_back(spelled);
        for (const auto& [to, from] : names_)
          if (to == a->name) used.push_back(from);
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
      if (std::find(used.begin(), used.end(), a.name) == used.end() && !is_companion(a.name))
        report_.extra.push_back(a.name);
    if (report_.arrays.empty() && report_.missing.empty())
      throw input_error(report_.reference + ": it has no array to compare");
    give_hints();
    // Of files that nobody gave, nothing is said.
    if (!request_.cases.empty())
      report_.unused.insert(report_.unused.end(), case_->arrays.unused.begin(), case_->arrays.unused.end());
  }

 private:
  bool is_asked_for(const std::string& name) const {
    return std::find(request_.only.begin(), request_.only.end(), name) != request_.only.end();
  }

  void sort_out_keys() {
    std::vector<std::string> names;
    for (const io::array_info& a : reference_->arrays()) names.push_back(a.name);
    tools::sort_out_keys(report_.candidate, candidate_->unknown_keys(), names, report_.unused);
    if (io::format_of_path(request_.candidate) == io::array_format::json && candidate_->arrays().empty())
      throw input_error(report_.candidate + ": it has no array: " + put_under_expected);
    tools::sort_out_keys(report_.reference, reference_->unknown_keys(), {}, report_.unused);
  }

  void refuse_cases() const {
    array_options others = request_.options;
    others.names.clear();
    others.dtypes.clear();
    if (request_.cases.empty() && others.any())
      throw input_error(
          "options of attention without --case: they say how exact numbers are computed from a case: give "
          "--case CASE, "
          "or leave them out");
    const auto has = [&](const char* name) {
      return reference_->find(name) != nullptr || reference_->find(lower(name)) != nullptr;
    };
    const bool results = has("output") || has("lse") || has("weights") || has("expected.output");
    if (!results && ((has("Q") && has("K")) || (has("X") && has("WQ"))))
      throw input_error(
          report_.reference + ": it is a case and no reference: write one first (attest reference " +
          report_.reference + " -o reference.npz) and give this one as --case " + report_.reference);
  }

  void give_hints() {
    if (!candidate_->provenance().empty() && reference_->provenance().empty()) add_swapped_hint(report_);
    add_name_hints(report_, true);
    if (!report_.hints.empty() || report_.missing.size() != 1 || report_.extra.size() != 1) return;
    if (reference_->find(report_.missing[0])->shape == candidate_->find(report_.extra[0])->shape)
      report_.hints.push_back(name_hint(report_.missing[0], report_.extra[0], true));
  }

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
          const auto named = io::dtype_named(type);
          const bool floats =
              named && format_of(*named) != nullptr && format_of(a.type) != nullptr && !a.untyped;
          if (floats && size_of(*named) < size_of(a.type))
            a = io::in_format(a, *named, io::inexact::refused, where);  // such as bfloat16 saved as float32
          else
            a = io::reinterpreted(std::move(a), type, where);
          typed = true;
        }
    const bool is_unsigned = a.type == dtype::uint8 || a.type == dtype::uint16 || a.type == dtype::uint32 ||
                             a.type == dtype::uint64;
    if (a.untyped)
      throw input_error(where + io::untyped_text(a, called));
    if ((is_unsigned && !typed && &file == candidate_.get() &&
                      format_of(reference_->find(called)->type) != nullptr))
      throw input_error(
          where + "its elements are " + to_string(a.type) +
          ", in which files without such a type keep floats: say what they are, as in --dtype " + called +
          "=bfloat16");
    return a;
  }

  void compare(const io::array_info& reference, const io::array_info& candidate) {
    const host_array r = load(*reference_, reference.name, reference.name);
    host_array c = load(*candidate_, candidate.name, reference.name);
    // [B, H, T, 1] is [B, H, T], and the reverse.
    const auto without_one = [](std::vector<std::size_t> shape) {
      if (!shape.empty() && shape.back() == 1) shape.pop_back();
      return shape;
    };
    if (c.shape.size() != r.shape.size() &&
        (without_one(c.shape) == r.shape || c.shape == without_one(r.shape)))
      c.shape = r.shape;
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
    const given_tolerance& allowed = report_.allowed.of(reference.name);
    if (allowed.limits.weighted_v) known.weighted_v = weighted_values(reference.name, known);
    array_comparison result = compare_arrays(known, {c.shape, values}, format_of(c.type), allowed.limits);
    result.name = reference.name;
    const format* const own = format_of(c.type);
    // Rounded to fewer bits than the candidate's, the exact numbers are not known to its own.
    const bool narrower = own != nullptr && known.written != nullptr && known.low.empty() &&
                          known.written->fraction_bits() < own->fraction_bits();
    if (own != nullptr && known.written != nullptr && own != known.written)
      result.notes.push_back(std::string("candidate is ") + own->name + ", the reference was written as " +
                             known.written->name);
    if (result.same_shape() && !result.passed()) {
      if (narrower)
        result.notes.back() +=
            ": the reference is narrower than the candidate: write it with --low-word or a wider "
            "--output-dtype";
      if (!result.layout) explain_failure(reference.name, known, result);
      const std::vector<std::string> axes = axis_names(array_named(reference.name), r.shape.size());
      if (result.failing.size() < result.elements)
        result.where = failures_by_axis(r.shape, axes, result.failing, lonely_rows(r.shape, axes));
    }
    if (result.same_shape()) {
      const std::vector<std::size_t> places = result.places();
      if (!request_.cases.empty())
        recompute(reference.name, known, places, result);
      else if (known.low.empty() && certified_ && known.written != nullptr &&
               written_output_.direction == rounding::nearest_even && !written_output_.max_bits)
        for (const std::size_t at : places) result.enclosures[at] = enclosure_text(known, at);
    }
    array_report array = report_of(std::move(result));
    array.said = allowed.said;
    report_.arrays.push_back(std::move(array));
  }

  // Of each element of the output: sum_j w_ij |v_jc|, from the inputs.
  std::vector<double> weighted_values(const std::string& name, const array_reference& known) {
    if (name != "output" && name != "expected.output")
      throw input_error("--weighted-v: array " + one_line(name) +
                        " is no mean of V: only output is: give --abs or --ulp for it");
    if (!request_.cases.empty())
      load_case();
    else
      look_for_case();
    if (!refusal_.empty())
      throw input_error("--weighted-v: the inputs of " + report_.reference + " are beside it, but " + refusal_);
    if (!case_ || !inputs_)
      throw input_error("--weighted-v: " + report_.reference +
                        " has no inputs beside it, of which the weighted |V| is computed: give --case CASE");
    std::vector<double> all = weighted_v(inputs_->inputs, case_->attention, 0);
    if (all.size() != known.high.size())
      throw input_error((request_.cases.empty() ? report_.reference : request_.cases[0]) + ": array " + name +
                        " of this case has " + std::to_string(all.size()) +
                        " elements, and the reference's " + std::to_string(known.high.size()));
    return all;
  }

  // Which convention makes the difference.
  void explain_failure(const std::string& name, const array_reference& known, array_comparison& result) {
    if (name == "lse") {
      const double own =
          result.nan_mismatches.count + result.infinity_mismatches.count > 0 || !result.absolute_error
              ? std::numeric_limits<double>::infinity()
              : result.absolute_error->value;
      const std::string base = fitting_base(known.high, result.candidate, *result.measure, own);
      if (!base.empty()) {
        result.conventions.push_back(base);
        return;
      }
    }
    if (name != "output" && name != "lse" && name != "weights") return;
    if (!request_.cases.empty())
      load_case();
    else
      look_for_case();
    if (!refusal_.empty())
      result.notes.push_back("no conventions were tried: the inputs are beside the reference, but " + refusal_);
    if (!case_ || !inputs_) return;
    try {
      explain(result, meant(), array_named(name));
    } catch (const attention_error&) {
      if (!request_.cases.empty()) throw;
    } catch (const std::invalid_argument&) {
      // The case has another size; where it was given, recompute() says so.
    }
  }

  convention_case meant() const {
    return {inputs_->inputs.q, inputs_->inputs.k, inputs_->inputs.v, case_->attention};
  }

  // The rows that see one key or none, by position alone, as far as the options of the reference tell. Their
  // results do not depend on the scores.
  std::vector<std::size_t> lonely_rows(const std::vector<std::size_t>& shape,
                                       const std::vector<std::string>& axes) const {
    if (case_ && inputs_) return rows_of_one_key(meant());
    // Without the inputs the number of keys is not known, and with it the other corner.
    const attention_options& o = written_attention_;
    const bool from_first =
        o.corner != causal_corner::bottom_right && o.past_keys.value_or(0) == 0 && o.causal;
    const auto axis = std::find(axes.begin(), axes.end(), "row");
    if (certified_ && from_first && axis != axes.end() &&
        shape[static_cast<std::size_t>(axis - axes.begin())] > 0)
      return {0};
    return {};
  }

  void load_case() {
    if (case_) return;
    const value* options = provenance_.find("options");
    try {
      case_.emplace(read_array_problem(request_.cases, case_options_,
                                       options == nullptr ? std::nullopt : std::optional(*options)));
    } catch (const input_error& e) {
      throw input_error(e.what() + missing_files(false));
    }
    inputs_ = inputs_of(case_->arrays);
    if (!inputs_) throw input_error(request_.cases[0] + ": its Q, K or V are no binary64: leave --case out");
  }

  // A file that nobody gave is not read beyond this size.
  static constexpr std::uintmax_t largest_unasked = std::uintmax_t{1} << 30;

  // The files that the reference was made of, where they still are beside it or here.
  void look_for_case() {
    if (looked_) return;
    looked_ = true;
    const value* inputs = provenance_.find("inputs");
    if (!certified_ || inputs == nullptr || inputs->type != kind::array) return;
    std::vector<std::string> files;
    for (const value& input : inputs->items) {
      const value* const file = input.find("file");
      const value* const digest = input.find("sha256");
      if (file == nullptr || digest == nullptr) return;
      // Whatever the reference says, it names a file and no folder.
      const std::filesystem::path name = std::filesystem::path(file->text).filename();
      std::string found;
      for (const std::filesystem::path& folder :
           {std::filesystem::path(request_.reference).parent_path(), std::filesystem::path()}) {
        const std::string path = (folder / name).string();
        std::error_code ignored;
        if (!found.empty() || !std::filesystem::is_regular_file(path, ignored)) continue;
        if (std::filesystem::file_size(path, ignored) > largest_unasked) continue;
        try {
          if (io::sha256(io::read_file(path)) == digest->text) found = path;
        } catch (const input_error&) {
          // It cannot be read: then it is not there.
        }
      }
      if (found.empty()) return;
      files.push_back(found);
    }
    try {
      case_.emplace(read_array_problem(files, case_options_, *provenance_.find("options")));
      inputs_ = inputs_of(case_->arrays);
    } catch (const input_error& e) {
      case_.reset();  // its arrays have other names, say, or are the bits of floats
      refusal_ = e.what();
    } catch (const attention_error& e) {
      case_.reset();
      refusal_ = e.what();
    }
  }

  // What the files given as --case are not: "; the reference was also made of mask.npz (SHA-256 ...)".
  std::string missing_files(bool knows_given) const {
    const value* inputs = provenance_.find("inputs");
    if (inputs == nullptr || inputs->type != kind::array) return {};
    std::vector<std::pair<std::string, std::string>> given;  // name, SHA-256
    if (knows_given) {
      for (const value& input : io::json::parse(case_->arrays.provenance).items)
        given.emplace_back(input.find("file")->text, input.find("sha256")->text);
    } else {
      for (const std::string& text : request_.cases) {
        const std::size_t equals = text.find('=');
        const std::string path = equals == std::string::npos ? text : text.substr(equals + 1);
        try {
          given.emplace_back(std::filesystem::path(path).filename().string(),
                             io::sha256(io::read_file(path)));
        } catch (const input_error&) {
          return {};
        }
      }
    }
    std::string text;
    for (const value& input : inputs->items) {
      const value* const file = input.find("file");
      const value* const digest = input.find("sha256");
      if (file == nullptr || digest == nullptr) continue;
      const auto same =
          std::find_if(given.begin(), given.end(), [&](const auto& g) { return g.second == digest->text; });
      if (same != given.end()) continue;
      const auto named =
          std::find_if(given.begin(), given.end(), [&](const auto& g) { return g.first == file->text; });
      text += "; the reference was made of " + one_line(file->text) + " with SHA-256 " +
              one_line(digest->text) +
              (named == given.end() ? ", which was not given" : ", and the file given has " + named->second);
    }
    return text;
  }

  // Why the reference is not what the case gives.
  std::string why_another() const {
    const std::string files = missing_files(true);
    if (!files.empty()) return files.substr(2);
    if (io::options_text(case_->attention, written_output_) !=
        io::options_text(written_attention_, written_output_))
      return "the files are those that it was made of, and the options are other ones";
    return provenance_.find("inputs") == nullptr
               ? "it is a reference of another case, of other options, or damaged"
               : "files and options are those that it was made of: it is damaged";
  }

  // The rows of these elements from the inputs, in binary64 with low words.
  void recompute(const std::string& name, const array_reference& known,
                 const std::vector<std::size_t>& places, array_comparison& result) {
    if (name != "output" && name != "lse" && name != "weights") return;
    load_case();
    const attention_shape shape =
        checked_shape(inputs_->inputs.q, inputs_->inputs.k, inputs_->inputs.v, case_->attention);
    const std::size_t rows = shape.batch * shape.query_heads * shape.queries;
    const std::size_t width = name == "lse" ? 1 : name == "output" ? shape.value_width : shape.keys;
    if (rows * width != known.high.size())
      throw input_error(request_.cases[0] + ": array " + name + " of this case has " +
                        std::to_string(rows * width) + " elements, and the reference's " +
                        std::to_string(known.high.size()));
    progress_line line;
    const auto elements = exact_elements(inputs_->inputs, case_->attention, array_named(name), places,
                                         [&](std::size_t done) { line.update(done, places.size()); });
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (!elements[k]) continue;
      const std::size_t at = places[k];
      result.enclosures[at] = enclosure_text(*elements[k], 0);
      const format& f = known.written != nullptr ? *known.written : formats::binary64;
      const double right = rounded_to(elements[k]->high[0], elements[k]->low[0], f, known.saturate);
      const bool agrees = right == known.high[at] || (std::isnan(right) && std::isnan(known.high[at]));
      if (certified_ && written_output_.direction == rounding::nearest_even && !agrees)
        throw input_error(report_.reference + ": array " + name + ": element " + index_text(known.shape, at) +
                          " is not what " + request_.cases[0] +
                          " gives: " + why_another());
    }
  }

  const array_check_request& request_;
  check_report& report_;
  std::unique_ptr<io::array_file> reference_;
  std::unique_ptr<io::array_file> candidate_;
  array_options case_options_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::string refusal_;  // why the inputs beside the reference are not read
  std::vector<std::pair<std::string, std::string>> dtypes_;
  value provenance_;
  attention_options written_attention_;
  io::output_options written_output_;
  bool certified_ = false;  // whether attest wrote the reference
  bool looked_ = false;     // whether look_for_case() has been called
  std::optional<array_problem> case_;
  std::optional<query_key_value> inputs_;
};

}  // namespace

void sort_out_keys(const std::string& file, const std::vector<std::string>& keys,
                   const std::vector<std::string>& reference_names, std::vector<std::string>& unused) {
  for (const std::string& key : keys) {
    for (const std::string& name : reference_names)
      if (is_usual_name(name, key))
        throw input_error(file + ": the key " + io::json::quote(key) +
                          " is not known: " + put_under_expected);
    unused.push_back("the key " + io::json::quote(key) + " of " + file);
  }
}

void add_name_hints(check_report& report, bool of_arrays) {
  for (const std::string& name : report.missing)
    for (const std::string& other : report.extra)
      if (is_usual_name(name, other)) {
        report.hints.push_back(name_hint(name, other, of_arrays));
        break;
      }
}

void add_swapped_hint(check_report& report) {
  const judgement outcome = report.outcome();
  if (outcome == judgement::passed || outcome == judgement::equal) return;
  report.hints.push_back("attest wrote " + report.candidate + " and not " + report.reference +
                         ": are the reference and the candidate swapped?");
}

void check_arrays(const array_check_request& request, check_report& report) {
  try {
    checker(request, report).check();
  } catch (const attention_error& e) {
    throw input_error((request.cases.empty() ? report.reference : request.cases[0]) + ": " +
                      on_command_line(e.what()));
  }
}

}  // namespace attest::tools
