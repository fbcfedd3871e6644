#include "array_reference.hpp"

#include "arguments.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "version.hpp"
#include "watched_work.hpp"

#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/number.hpp>
#include <attest/problem/one_line.hpp>
#include <attest/reference/attention.hpp>
#include <attest/reference/number_text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace attest::tools {

namespace {

using io::host_array;
using io::input_error;
using io::json::kind;
using io::json::value;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// --- what a file says of itself ----------------------------------------------------------------------------

value parsed(const std::string& text, const std::string& name) {
  try {
    return io::json::parse(text);
  } catch (const io::json::syntax_error& e) {
    throw input_error(name + ": what attest wrote beside the arrays: " + e.what());
  }
}

struct row_place {
  std::size_t first = 0;
  std::size_t last = 0;
  std::vector<std::size_t> leading;  // the extents that the rows are counted over: [T], [B, T] or [B, H, T]
  std::size_t undecided = 0;         // elements in these rows

  std::size_t all() const {
    std::size_t count = 1;
    for (const std::size_t extent : leading) count *= extent;
    return count;
  }
};

std::string whole_provenance(const array_problem& p) {
  const std::string text = "{\"version\": \"attest-v1\", \"attest\": " + io::json::quote(version) +
                           ", \"inputs\": " + p.arrays.provenance +
                           ", \"options\": " + io::options_text(p.attention, p.output) + "}";
  return io::json::write(parsed(text, "provenance"));
}

std::string part_provenance(const std::string& whole, const row_place& rows) {
  std::string leading;
  for (const std::size_t extent : rows.leading)
    leading += (leading.empty() ? "" : ", ") + std::to_string(extent);
  return whole.substr(0, whole.size() - 1) + ", \"rows\": {\"first\": " + std::to_string(rows.first) +
         ", \"last\": " + std::to_string(rows.last) + ", \"of\": [" + leading +
         "], \"undecided\": " + std::to_string(rows.undecided) + "}}";
}

struct part {
  std::unique_ptr<io::array_file> file;
  std::string whole;  // the provenance of the whole
  row_place rows;
};

part open_part(const std::string& path, std::unique_ptr<io::array_file> file) {
  const auto fail = [&](const std::string& what) -> void { throw input_error(path + ": " + what); };
  part p;
  p.file = std::move(file);
  if (p.file->provenance().empty())
    fail("it is no part: nothing in it says which rows it has; attest reference --rows A:B writes such");
  value v = parsed(p.file->provenance(), path);
  const value* rows = v.type == kind::object ? v.find("rows") : nullptr;
  if (rows == nullptr)
    fail("it is no part: it has all rows, or was not written with attest reference --rows A:B");
  const auto size = [&](const value* number) {
    std::size_t result = 0;
    if (number == nullptr || number->type != kind::number) {
      fail("its rows are damaged");
      return result;
    }
    if (!is_number(number->text, result)) fail("its rows are damaged");
    return result;
  };
  p.rows.first = size(rows->find("first"));
  p.rows.last = size(rows->find("last"));
  const value* of = rows->find("of");
  if (of == nullptr || of->type != kind::array || of->items.empty() || of->items.size() > 3)
    fail("its rows are damaged");
  for (const value& extent : of->items) p.rows.leading.push_back(size(&extent));
  p.rows.undecided = size(rows->find("undecided"));
  if (p.rows.first > p.rows.last || p.rows.last > p.rows.all()) fail("its rows are damaged");
  for (const io::array_info& a : p.file->arrays())
    if (a.shape.empty() || a.shape.size() > 2 || a.shape[0] != p.rows.last - p.rows.first)
      fail("array " + a.name + ": shape " + shape_text(a.shape) + " does not fit its rows " +
           std::to_string(p.rows.first) + ":" + std::to_string(p.rows.last));
  for (std::size_t i = 0; i < v.keys.size(); ++i)
    if (v.keys[i] == "rows") {
      v.keys.erase(v.keys.begin() + static_cast<std::ptrdiff_t>(i));
      v.items.erase(v.items.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  p.whole = io::json::write(v);
  return p;
}

// --- what a line of summary says of the case ------------------------------------------------------------

// "B 1, Hq 2, Hkv 1, Tq 3, Tk 5, d_k 4, d_v 2; mask [3, 5], causal true, scale 0.25".
std::string case_text(const array_problem& p, const attention_shape& shape) {
  const auto extent = [](const char* name, std::size_t n) {
    return std::string(name) + ' ' + std::to_string(n) + ", ";
  };
  std::string text = extent("B", shape.batch) + extent("Hq", shape.query_heads) +
                     extent("Hkv", shape.key_value_heads) + extent("Tq", shape.queries) +
                     extent("Tk", shape.keys) + (shape.key_width == 0 ? "" : extent("d_k", shape.key_width)) +
                     "d_v " + std::to_string(shape.value_width) + ';';
  const attention_options& a = p.attention;
  if (!a.mask && !a.bias && !a.causal && !a.window && a.key_lengths.empty())
    text += " every query sees every key,";
  const auto add = [&](const std::string& what) { text += ' ' + what + ','; };
  if (a.mask) add("mask");
  if (a.bias) add("bias");
  const value options = parsed(io::options_text(p.attention, p.output), "options");
  for (std::size_t i = 0; i < options.keys.size() && options.keys[i] != "output_dtype"; ++i) {
    std::string content = io::json::write(options.items[i]);
    std::erase_if(content, [](char c) { return c == '"'; });
    if (content.size() > 40) content = content.substr(0, 37) + "...";
    add(content == "true" ? options.keys[i] : options.keys[i] + ' ' + content);
  }
  if (!a.scale) add("scale 1/sqrt(d_k)");
  text.pop_back();
  return text;
}

// --- the results -------------------------------------------------------------------------------------------

// An array of results with all its rows.
struct result_array {
  host_array array;
  std::size_t width = 1;
  std::size_t row_bytes() const { return width * size_of(array.type); }

  host_array slice(std::size_t first, std::size_t last) const {
    host_array part;
    static_cast<io::array_info&>(part) = array;
    part.shape = {last - first};
    if (array.name.substr(0, 3) != "lse") part.shape.push_back(width);
    part.bytes.assign(array.bytes.begin() + static_cast<std::ptrdiff_t>(first * row_bytes()),
                      array.bytes.begin() + static_cast<std::ptrdiff_t>(last * row_bytes()));
    return part;
  }
};

class results {
 public:
  results(const attention_shape& shape, const std::vector<std::size_t>& leading,
          const io::output_options& output, bool lse, const std::string& where) {
    // A log-sum-exp that is as narrow as an output of 16 or 8 bits is of no use to anybody.
    const dtype wide = size_of(output.type) < 4 ? dtype::binary32 : output.type;
    std::uint64_t bytes = 0;
    const auto add = [&](const std::string& name, std::size_t width, dtype type, bool flat = false) {
      result_array r;
      r.array.name = name;
      r.array.type = type;
      r.array.shape = leading;
      if (!flat) r.array.shape.push_back(width);
      r.width = width;
      bytes += std::uint64_t{rows_of(leading)} * width * size_of(type);
      arrays.push_back(std::move(r));
    };
    const auto add_all = [&](const std::string& name, std::size_t width, dtype type, bool flat = false) {
      add(name, width, type, flat);
      if (output.low_word) add(name + "_low", width, dtype::binary32, flat);
      if (output.certificates) add(name + "_certificates", width, dtype::uint8, flat);
    };
    add_all("output", shape.value_width, output.type);
    if (output.weights) add_all("weights", shape.keys, wide);
    if (lse) add_all("lse", 1, wide, true);
    io::check_memory(bytes, where + ": the results: ");
    for (result_array& r : arrays) r.array.bytes.resize(rows_of(leading) * r.row_bytes());
    leading_ = {shape.batch, shape.query_heads, shape.queries};
  }

  static std::size_t rows_of(const std::vector<std::size_t>& leading) {
    std::size_t count = 1;
    for (const std::size_t extent : leading) count *= extent;
    return count;
  }

  certified_results views() {
    certified_results r;
    const auto view = [&](const char* name) -> std::optional<any_result> {
      for (result_array& a : arrays)
        if (a.array.name == name)
          return any_result(data(a), a.array.type, layout{leading_[0], leading_[1], leading_[2], a.width});
      return std::nullopt;
    };
    const auto certificates = [&](const char* name) -> std::optional<tensor<certificate>> {
      const auto bytes = view(name);
      if (!bytes) return std::nullopt;
      return tensor<certificate>(static_cast<certificate*>(bytes->data()), bytes->where());
    };
    r.output = *view("output");
    r.output_low = view("output_low");
    r.output_certificates = certificates("output_certificates");
    r.weights = view("weights");
    r.weights_low = view("weights_low");
    r.weights_certificates = certificates("weights_certificates");
    r.log_sum_exp = view("lse");
    r.log_sum_exp_low = view("lse_low");
    r.log_sum_exp_certificates = certificates("lse_certificates");
    return r;
  }

  std::vector<host_array> slices(std::size_t first, std::size_t last) const {
    std::vector<host_array> all;
    for (const result_array& a : arrays) all.push_back(a.slice(first, last));
    return all;
  }
  std::vector<host_array> whole() {
    std::vector<host_array> all;
    for (result_array& a : arrays) all.push_back(std::move(a.array));
    return all;
  }

  /// The rows of a part, in their places.
  void take(const part& p, const std::string& path) {
    if (p.file->arrays().size() != arrays.size())
      throw input_error(path + ": it has other arrays than this run: remove it, or run without --resume");
    for (result_array& a : arrays) {
      const host_array rows = p.file->load(a.array.name);
      if (rows.type != a.array.type || rows.bytes.size() != (p.rows.last - p.rows.first) * a.row_bytes())
        throw input_error(path + ": array " + a.array.name + ": " + to_string(rows.type) + " " +
                          shape_text(rows.shape) + " is not what this run gives: remove it");
      if (!rows.bytes.empty())
        std::memcpy(a.array.bytes.data() + p.rows.first * a.row_bytes(), rows.bytes.data(),
                    rows.bytes.size());
    }
  }

  std::vector<result_array> arrays;

 private:
  static void* data(result_array& a) {
    static unsigned char nothing[8];
    return a.array.bytes.empty() ? nothing : a.array.bytes.data();
  }
  std::array<std::size_t, 3> leading_{};
};

row_range parse_rows(const std::string& text, std::size_t all) {
  if (text.empty()) return {0, all};
  const std::size_t colon = text.find(':');
  row_range range{0, all};
  const auto number = [&](const std::string& part, std::size_t& to) {
    if (part.empty()) return;
    if (!is_number(part, to))
      throw input_error("--rows: " + text + " is no range: give A:B, rows A to B - 1");
  };
  if (colon == std::string::npos)
    throw input_error("--rows: " + text + " is no range: give A:B, rows A to B - 1");
  number(text.substr(0, colon), range.first);
  number(text.substr(colon + 1), range.last);
  if (range.first > range.last || range.last > all)
    throw input_error("--rows: " + text + " does not lie within the " + std::to_string(all) +
                      " rows of the case");
  return range;
}

void add(certification& sum, const certification& piece) {
  for (std::size_t tier = 0; tier < reference_tiers; ++tier) sum.settled[tier] += piece.settled[tier];
  sum.exact += piece.exact;
  sum.undecided += piece.undecided;
  sum.most_bits = std::max(sum.most_bits, piece.most_bits);
  for (const undecided_element& e : piece.undecided_elements)
    if (sum.undecided_elements.size() < 100) sum.undecided_elements.push_back(e);
}

const char* name_of(reference_array a) {
  return a == reference_array::output ? "output" : a == reference_array::weights ? "weights" : "lse";
}

std::string index_text(const undecided_element& e) {
  return "[" + std::to_string(e.index[0]) + ", " + std::to_string(e.index[1]) + ", " +
         std::to_string(e.index[2]) + ", " + std::to_string(e.index[3]) + "]";
}

std::string report_text(const certification& c, row_range rows, double time) {
  constexpr const char* tiers[] = {"narrow", "double_double", "enclosure", "symbolic"};
  std::string text = "{\n  \"version\": \"attest-report-v1\",\n  \"rows\": [" + std::to_string(rows.first) +
                     ", " + std::to_string(rows.last) + "],\n  \"settled\": {";
  for (std::size_t tier = 0; tier < reference_tiers; ++tier)
    text += std::string(tier == 0 ? "" : ", ") + io::json::quote(tiers[tier]) + ": " +
            std::to_string(c.settled[tier]);
  text += "},\n  \"exact\": " + std::to_string(c.exact) +
          ",\n  \"undecided\": " + std::to_string(c.undecided) +
          ",\n  \"most_bits\": " + std::to_string(c.most_bits) +
          ",\n  \"seconds\": " + shortest_text(time) + ",\n  \"undecided_elements\": [";
  for (const undecided_element& e : c.undecided_elements)
    text += (&e == &c.undecided_elements.front() ? "\n    " : ",\n    ") +
            ("{\"array\": " + io::json::quote(name_of(e.array))) +
            ", \"low_word\": " + (e.low_word ? "true" : "false") + ", \"index\": " + index_text(e) +
            ", \"lower\": " + io::json::quote(e.lower) + ", \"upper\": " + io::json::quote(e.upper) + "}";
  return text + "]\n}\n";
}

std::string leading_axes(std::size_t rank) {
  return rank == 2 ? "row i" : rank == 3 ? "row b T + i" : "row (b H + h) T + i";
}

// The exact path, for products that no binary64 holds: one head, with what a `problem` can say.
void exact_results(const array_problem& p, results& out, const std::string& where) {
  attention_options plain;
  plain.scale = p.attention.scale;
  plain.mask = p.attention.mask;
  plain.log_sum_exp = p.attention.log_sum_exp;
  plain.empty_row = p.attention.empty_row;
  io::output_options output;
  output.weights = p.output.weights;
  const bool simple = io::options_text(plain, output) == io::options_text(p.attention, p.output) &&
                      !p.attention.bias &&
                      (!p.attention.log_sum_exp || p.attention.log_sum_exp->base == log_sum_exp_base::e);
  const host_array& x = *p.arrays.find("X");
  const host_array* y = p.arrays.find("Y");
  if (!simple || x.shape.size() != 2)
    throw input_error(
        where +
        ": an element of Q, K or V, as X, WQ, WK and WV give it, is no binary64; then only one "
        "head [T, C] with scale, mask and results in binary64, without low words and certificates, "
        "is calculated: round Q, K and V yourself, or give arrays of fewer bits");
  const auto matrix = [](const host_array& a) {
    std::vector<exact_scalar> elements;
    for (const double v : io::exact_doubles(a, a.name + ": "))
      elements.push_back(exact_value<unbounded_integer>(v));
    return make_exact_matrix(a.shape[0], a.shape[1], elements);
  };
  const auto input = [&](const char* name) { return matrix(*p.arrays.find(name)); };
  problem exact{projected_inputs{matrix(x), y == nullptr ? std::nullopt : std::optional(matrix(*y)),
                                 input("WQ"), input("WK"), input("WV")},
                {},
                {}};
  if (p.attention.scale) exact.scale = exact_value<unbounded_integer>(*p.attention.scale);
  const extents e = checked_extents(exact);
  if (p.attention.mask) {
    const any_tensor mask = broadcast(*p.attention.mask, {1, 1, e.queries, e.keys}, "mask");
    auto& visible = exact.mask.emplace(attest::matrix<bool>(e.queries, e.keys));
    for (std::size_t i = 0; i < e.queries; ++i)
      for (std::size_t j = 0; j < e.keys; ++j) visible(i, j) = mask(0, 0, i, j) != 0;
    checked_extents(exact);
  }
  progress_line line;
  const attention_reference answer =
      attention(exact, {17, [&](std::size_t done_rows, std::size_t rows) { line.update(done_rows, rows); }});
  for (result_array& a : out.arrays)
    for (std::size_t i = 0; i < e.queries; ++i)
      for (std::size_t j = 0; j < a.width; ++j) {
        const double v = a.array.name == "output"    ? answer.output(i, j).nearest
                         : a.array.name == "weights" ? answer.weights(i, j).nearest
                                                     : answer.log_sum_exp[i].nearest;
        std::memcpy(a.array.bytes.data() + 8 * (i * a.width + j), &v, 8);
      }
}

}  // namespace

namespace {

int write_reference(const array_reference_request& r, const std::string& where) {
  if (r.output == "-")
    throw input_error(r.files.back() +
                      ": what is calculated from arrays is written to a file: name one with -o");
  const auto format = io::format_of_path(r.output);
  if (r.output.empty()) throw input_error("-o: the name of the file is empty: give one");
  if (!format)
    throw input_error(
        r.output +
        ": its extension names no format: use .npy, .npz, .safetensors, .bin, .raw, .json or .hpp");
  if (!r.rows.empty() && (*format == io::array_format::json || *format == io::array_format::cpp_header))
    throw input_error(
        r.output + ": parts are written as .safetensors, .npz, .npy or .bin, since merge reads them again");
  const io::output_file early(r.output);  // what is wrong with it is found before the work
  refuse_to_replace(r.output, r.files);
  std::optional<io::output_file> report;
  if (!r.report.empty()) {
    report.emplace(r.report);
    refuse_to_replace(r.report, r.files);
    const bool sidecar = *format == io::array_format::npy || *format == io::array_format::raw;
    if (r.report == r.output || (sidecar && r.report == r.output + ".json"))
      throw input_error("--report: " + r.report + " is what -o writes, too: name another file");
  }

  const array_problem p = read_array_problem(r.files, r.options);
  const std::string whole = whole_provenance(p);
  certification counts;
  row_range range;
  std::optional<results> out;
  row_place place;
  const double started = seconds();
  {
    const auto qkv = inputs_of(p.arrays);
    attention_shape shape{};
    std::vector<std::size_t> leading;
    if (qkv) {
      shape = checked_shape(qkv->inputs.q, qkv->inputs.k, qkv->inputs.v, p.attention);
      leading = p.arrays.projected() ? qkv->products[0].shape : p.arrays.find("Q")->shape;
    } else {
      const auto& x = *p.arrays.find("X");
      leading = x.shape;
      shape = {1, 1, x.shape[0], x.shape[0], 0, 0, p.arrays.find("WV")->shape.back()};
      shape.query_heads = shape.key_value_heads = 1;
      shape.queries = x.shape[0];
      shape.keys = (p.arrays.find("Y") != nullptr ? *p.arrays.find("Y") : x).shape[0];
      shape.value_width = p.arrays.find("WV")->shape.back();
    }
    leading.pop_back();
    place.leading = leading;
    range = parse_rows(r.rows, place.all());
    out.emplace(shape, leading, p.output, p.attention.log_sum_exp.has_value(), where);
    if (*format == io::array_format::npy && out->arrays.size() != 1)
      throw input_error(
          r.output + ": an .npy file holds one array, and output is not alone: write .npz or .safetensors");

    const std::string part_path = r.output + ".part";
    std::size_t at = range.first;
    if (!qkv) {
      if (!r.rows.empty())
        throw input_error("--rows: this case is calculated as a whole, as its Q, K and V are no binary64");
      exact_results(p, *out, where);
      at = range.last;
    }
    std::error_code ignored;
    if (r.resume && !std::filesystem::exists(part_path, ignored))
      std::cerr << "attest: --resume: there is no " + one_line(part_path) + ": from the first row\n";
    if (r.resume && std::filesystem::exists(part_path, ignored)) {
      std::string bytes = io::read_file(part_path);
      const part kept =
          open_part(part_path, io::open_arrays(std::move(bytes), io::array_format::safetensors, part_path));
      if (kept.whole != whole || kept.rows.leading != leading || kept.rows.first != range.first ||
          kept.rows.last > range.last)
        throw input_error(part_path +
                          ": it is of other inputs, options or rows: remove it, or run without --resume");
      out->take(kept, part_path);
      at = kept.rows.last;
      counts.undecided = kept.rows.undecided;
    }

    const auto keep = [&] {
      const row_place rows_done{range.first, at, leading, counts.undecided};
      const io::output_file file(part_path);
      file.write(io::encode({out->slices(range.first, at), part_provenance(whole, rows_done)},
                            io::array_format::safetensors, part_path)
                     .bytes);
    };
    const interrupt_watch watch;
    // Not before something has been calculated: what is wrong is said in one line.
    bool said_unused = false;
    {
      const auto interruption = [&] {
        if (at > range.first) keep();
        std::cerr << "attest: interrupted after " + std::to_string(at - range.first) + " of " +
                         std::to_string(range.last - range.first) + " rows" +
                         (at > range.first
                              ? "; they are kept in " + one_line(part_path) + ", and --resume continues"
                              : "") +
                         "\n";
        return interrupt_watch::status();
      };
      // The work asks between blocks of rows, and a row can take long.
      watched_work work(at - range.first, range.last - range.first, [&] {
        int status = bad_input;
        try {
          status = interruption();
        } catch (const std::exception& e) {
          std::cerr << one_line(std::string("attest: ") + e.what()) + "\n";
        }
        std::_Exit(status);
      });
      std::size_t piece = 16;
      double kept_at = seconds();
      const certified_results views = out->views();
      // One call at least, for what it finds wrong.
      bool first = qkv.has_value();
      while (first || at < range.last) {
        first = false;
        const std::size_t end = at + std::min(piece, range.last - at);
        certified_options options;
        options.direction = p.output.direction;
        options.saturate = p.output.saturate;
        options.max_bits = p.output.max_bits;
        options.threads = r.threads;
        options.rows = {at, end};
        options.progress = [&](std::size_t done_rows, std::size_t) {
          work.report(at - range.first + done_rows);
          return !interrupt_watch::requested();
        };
        const double before = seconds();
        try {
          if (interrupt_watch::requested()) throw interrupted();
          const certification of_piece = certified_attention(qkv->inputs, p.attention, views, options);
          const auto lock = work.changing();
          add(counts, of_piece);
          at = end;
        } catch (const interrupted&) {
          work.stop();
          return interruption();
        }
        if (!std::exchange(said_unused, true)) work.interrupt_line([&] { report_unused(p.arrays.unused); });
        const double now = seconds();
        if (now - before < 1) piece *= 2;
        if (now - before > 10 && piece > 16) piece /= 2;  // what is interrupted in it is lost
        if (now - kept_at > 60 && at < range.last) {
          const auto lock = work.changing();  // or the process might end while it is being written
          keep();
          kept_at = now;
        }
      }
    }

    if (!said_unused) report_unused(p.arrays.unused);

    io::arrays_to_write content;
    if (r.rows.empty())
      content = {out->whole(), whole};
    else
      content = {out->slices(range.first, range.last),
                 part_provenance(whole, {range.first, range.last, leading, counts.undecided})};
    io::write_arrays(r.output, content);
    std::filesystem::remove(part_path, ignored);

    if (report) report->write(report_text(counts, range, seconds() - started));
    std::string summary = r.output + ": ";
    for (const host_array& a : content.arrays)
      summary += (&a == &content.arrays.front() ? "" : ", ") + a.name + " " + shape_text(a.shape) + " " +
                 to_string(a.type);
    if (!r.rows.empty())
      summary += "; rows " + std::to_string(range.first) + ":" + std::to_string(range.last) + " of " +
                 std::to_string(place.all()) + ", " + leading_axes(leading.size() + 1);
    io::write_standard_output(
        one_line(summary + "; each element correctly rounded" +
                     (counts.undecided > 0 ? " but " + std::to_string(counts.undecided) + " undecided" : "") +
                     "; of " + case_text(p, shape)) +
        "\n");
  }
  for (std::size_t i = 0; i < counts.undecided_elements.size() && i < 10; ++i) {
    const undecided_element& e = counts.undecided_elements[i];
    std::cerr << std::string("attest: undecided: ") + name_of(e.array) + (e.low_word ? " (low word) " : " ") +
                     index_text(e) + " lies between " + e.lower + " and " + e.upper + "\n";
  }
  return counts.undecided > 0 ? undecided : done;
}

}  // namespace

int write_array_reference(const array_reference_request& r) {
  std::string where;
  for (const std::string& file : r.files) where += (where.empty() ? "" : ", ") + file;
  try {
    return write_reference(r, where);
  } catch (const attention_error& e) {
    throw input_error(where + ": " + on_command_line(e.what()));
  }
}

int merge_parts(const std::vector<std::string>& paths, const std::string& output) {
  refuse_to_replace(output, paths);
  std::vector<std::pair<std::string, part>> parts;
  for (const std::string& path : paths) parts.emplace_back(path, open_part(path, io::open_arrays(path)));
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.rows.first, a.second.rows.last) <
           std::pair(b.second.rows.first, b.second.rows.last);
  });
  const auto& [first_path, first] = parts[0];
  std::size_t at = 0;
  std::size_t open = 0;
  for (const auto& [path, p] : parts) {
    if (p.whole != first.whole || p.rows.leading != first.rows.leading)
      throw input_error(path + ": it is of other inputs or options than " + first_path +
                        ": merge parts of one case");
    if (p.rows.first > at)
      throw input_error(path + ": rows " + std::to_string(at) + ":" + std::to_string(p.rows.first) +
                        " are missing before it");
    if (p.rows.first < at)
      throw input_error(path + ": its rows " + std::to_string(p.rows.first) + ":" +
                        std::to_string(p.rows.last) + " overlap those of another part");
    at = p.rows.last;
    open += p.rows.undecided;
  }
  if (at != first.rows.all())
    throw input_error(parts.back().first + ": rows " + std::to_string(at) + ":" +
                      std::to_string(first.rows.all()) + " are missing after it");
  io::arrays_to_write content;
  content.provenance = first.whole;
  for (const io::array_info& info : first.file->arrays()) {
    host_array a;
    static_cast<io::array_info&>(a) = info;
    a.shape = first.rows.leading;
    if (info.shape.size() == 2) a.shape.push_back(info.shape[1]);
    for (const auto& [path, p] : parts) {
      const host_array rows = p.file->load(info.name);
      if (rows.type != info.type || rows.shape.size() != info.shape.size() ||
          (info.shape.size() == 2 && rows.shape[1] != info.shape[1]))
        throw input_error(path + ": array " + info.name + ": " + to_string(rows.type) + " " +
                          shape_text(rows.shape) + " does not fit that of " + first_path);
      a.bytes.insert(a.bytes.end(), rows.bytes.begin(), rows.bytes.end());
    }
    content.arrays.push_back(std::move(a));
  }
  // The order in which one run writes them, whatever the parts' format made of it.
  const auto rank = [](const std::string& name) {
    constexpr std::string_view order[] = {"output",      "output_low",           "output_certificates",
                                          "weights",     "weights_low",          "weights_certificates",
                                          "lse",         "lse_low",              "lse_certificates"};
    return std::find(std::begin(order), std::end(order), name) - std::begin(order);
  };
  std::sort(content.arrays.begin(), content.arrays.end(),
            [&](const host_array& a, const host_array& b) { return rank(a.name) < rank(b.name); });
  io::write_arrays(output, content);
  if (open == 0) return done;
  std::cerr << "attest: undecided: " + std::to_string(open) + " elements of the parts\n";
  return undecided;
}

}  // namespace attest::tools
