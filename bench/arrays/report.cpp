#include "report.hpp"

#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace bench {

namespace {

// Repeats that spread further (the middle half of them, relative to the median) say nothing about a difference of a tenth.
constexpr double largest_spread = 0.05;

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

std::string padded(const std::string& s, std::size_t width) {
  return s.size() < width ? s + std::string(width - s.size(), ' ') : s + ' ';
}

// --- reading the results ----------------------------------------------------------------------------------------------

const json* group_of(const json& results, const std::string& name) {
  for (const json& g : results["groups"])
    if (g["name"] == name) return &g;
  return nullptr;
}

const json* method_of(const json& group, const std::string& name) {
  if (!group.contains("methods")) return nullptr;
  for (const json& m : group["methods"])
    if (m["name"] == name) return m.contains("median") ? &m : nullptr;
  return nullptr;
}

double median_of(const json& m) { return m["median"].get<double>(); }

/// The time of one method over that of another, in one group.
std::optional<double> ratio(const json& group, const std::string& of, const std::string& to) {
  const json* const a = method_of(group, of);
  const json* const b = method_of(group, to);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return median_of(*a) / median_of(*b);
}

std::optional<double> share_of_peak(const json& group, const json& m) {
  if (!group.contains("multiply_adds_per_second") || m["name"] == "peak") return std::nullopt;
  return group["multiply_adds"].get<double>() / median_of(m) / group["multiply_adds_per_second"].get<double>();
}

std::string short_name(const json& group) {
  const std::string name = group["name"];
  const std::size_t comma = name.find(", ");
  return comma == std::string::npos ? name : name.substr(comma + 2);
}

// --- marks --------------------------------------------------------------------------------------------------------------

struct mark {
  std::string what;
  double gate;
  double goal;
  bool more_is_better;
  const char* form;  // of the numbers
  struct value {
    double number;
    std::string where;
  };
  std::vector<value> measured = {};
};

std::vector<mark> marks_of(const json& results) {
  std::vector<mark> all;
  /// A mark over every group that the filter lets through: f gives its numbers.
  const auto add = [&](mark m, const std::function<bool(const json&)>& filter,
                       const std::function<std::optional<double>(const json&)>& f) {
    for (const json& g : results["groups"])
      if (filter(g))
        if (const std::optional<double> x = f(g)) m.measured.push_back({*x, short_name(g)});
    all.push_back(m);
  };
  const auto arrays = [](const char* type, double least, double most) {
    return [=](const json& g) {
      const std::string name = g["name"];
      return name.starts_with(std::string(type) + ", T") && g["keys"].get<double>() >= least && g["keys"].get<double>() <= most;
    };
  };
  const auto named = [](const std::string& start) {
    return [=](const json& g) { return g["name"].get<std::string>().starts_with(start); };
  };
  const auto peak = [](const json& g) {
    const json* const m = method_of(g, "fused");
    return m == nullptr ? std::nullopt : share_of_peak(g, *m);
  };
  const auto over = [](const std::string& of, const std::string& to) {
    return [=](const json& g) { return ratio(g, of, to); };
  };
  constexpr double any = 1e9;
  const char* const percent = "%.0f %%";
  const char* const times = "%.2f";

  add({"fused binary64, share of the multiply-add peak, T >= 512", 80, 92, true, percent}, arrays("binary64", 512, any),
      [&](const json& g) {
        const auto share = peak(g);
        return share ? std::optional(*share * 100) : share;
      });
  add({"the same, T = 64", 65, 80, true, percent}, arrays("binary64", 64, 64), [&](const json& g) {
    const auto share = peak(g);
    return share ? std::optional(*share * 100) : share;
  });
  add({"fused binary64, times faster than OpenBLAS + vector exp, T >= 512", 1.10, 1.4, true, times},
      arrays("binary64", 512, any), over("OpenBLAS + vector exp", "fused"));
  add({"fused binary64, times faster than NumPy", 1.25, 1.8, true, times}, named("Python"), [](const json&) {
    return std::optional<double>();
  });
  if (const json* const g = group_of(results, "Python"); g != nullptr && g->contains("sizes"))
    for (const json& size : (*g)["sizes"])
      if (const auto x = ratio(size, "NumPy", "fused"); x && size["dtype"] == "binary64")
        all.back().measured.push_back({*x, size["name"]});
  add({"fused binary32, times faster than OpenBLAS + vector exp, T >= 512", 1.05, 1.3, true, times},
      arrays("binary32", 512, any), over("OpenBLAS + vector exp", "fused"));
  add({"causal / full time", 0.6, 0.53, false, times}, named("masks"), over("causal", "full"));
  add({"a boolean mask / full time", 1.15, 1.05, false, times}, named("masks"), over("boolean mask, half of the keys", "full"));
  add({"decoding, share of the memory bandwidth", 70, 90, true, percent}, named("decode"), [](const json& g) {
    const auto x = ratio(g, "bandwidth", "fused");
    return x ? std::optional(*x * 100) : x;
  });
  add({"certified binary64 / fused", 3.2, 2.6, false, times}, arrays("binary64", 0, any), over("certified binary64", "fused"));
  for (const int d : {64, 128})
    add({"certified binary64, times faster than Arb mat_mul, d = " + std::to_string(d), d == 64 ? 50.0 : 40.0,
         d == 64 ? 80.0 : 60.0, true, "%.0f"},
        [=](const json& g) {
          return g["name"].get<std::string>().starts_with("many digits") && g["width"] == d && g["keys"] == 256;
        },
        over("Arb, mat_mul, 128 bits", "certified binary64"));
  add({"certified binary16 / fused binary64", 1.10, 1.03, false, times}, arrays("binary64", 0, any),
      over("certified binary16", "fused"));
  add({"certified bfloat16 / fused binary64", 1.10, 1.03, false, times}, arrays("binary64", 0, any),
      over("certified bfloat16", "fused"));
  add({"certified binary32 / fused binary64, T >= 512", 1.5, 1.15, false, times}, arrays("binary64", 512, any),
      over("certified binary32", "fused"));
  for (const char* const kind : {"causal", "zero-padded", "constant V", "integers", "peaked"})
    add({std::string("certified binary64, ") + kind + " / N(0,1)", 2, 1, false, times}, named("kinds of inputs"),
        over(kind, "N(0,1)"));
  for (const char* const kernel : {"fused", "fused binary32", "certified"})
    add({std::string(kernel) + ", two threads, times faster than one", 1.8, 1.95, true, times}, named("threads"),
        over(std::string(kernel) + ", one thread", std::string(kernel) + ", two threads"));

  const auto claim = [&](mark m, const std::function<std::optional<double>(const json&)>& f) {
    add(std::move(m), named("claims"), [&](const json& g) { return f(g); });
  };
  claim({"left open by the double-double tier, N(0,1), share", 1e-5, 1e-6, false, "%.1e"}, [](const json& g) {
    return std::optional(g["undecided"]["left_by_double_double"].get<double>() / g["undecided"]["elements"].get<double>());
  });
  claim({"undecided in the end", 0, 0, false, "%.0f"},
        [](const json& g) { return std::optional(g["undecided"]["undecided"].get<double>()); });
  claim({"wrong among certified elements compared with MPFR", 0, 0, false, "%.0f"}, [](const json& g) {
    const json& m = g["against_mpfr"];
    return m.contains("wrong") ? std::optional(m["wrong"].get<double>()) : std::nullopt;
  });
  claim({"true error / claimed bound, double-double tier", 1, 1, false, "%.3f"}, [](const json& g) {
    const json& m = g["against_mpfr"];
    return m.contains("error_over_bound") ? std::optional(m["error_over_bound"].get<double>()) : std::nullopt;
  });
  for (const char* const what : {"fused", "certified"})
    claim({std::string("memory, ") + what + ": growth when T doubles (2: linear, 4: T x T)", 2.5, 2.2, false, times},
          [=](const json& g) -> std::optional<double> {
            const json& m = g["memory"];
            if (!m.is_array() || m.size() < 2) return std::nullopt;
            const double last = m[m.size() - 1][what], before = m[m.size() - 2][what];
            return before < 65536 ? std::optional(last < 131072 ? 1.0 : last / 65536) : last / before;
          });
  add({"enclosures of 16 x 16 weights, seconds to compile, g++", 3, 1.3, false, "%.1f"}, named("compiling"),
      [](const json&) { return std::optional<double>(); });
  add({"the same, clang", 4, 2.2, false, "%.1f"}, named("compiling"), [](const json&) { return std::optional<double>(); });
  if (const json* const g = group_of(results, "compiling"))
    for (const json& c : (*g)["compiling"])
      if (c.contains("seconds")) {
        const std::string compiler = c["compiler"];
        all[all.size() - (compiler.find("clang") == std::string::npos ? 2 : 1)].measured.push_back(
            {c["seconds"].get<double>(), compiler});
      }
  return all;
}

std::string marks_table(const json& results, bool in_markdown) {
  std::string out;
  if (in_markdown)
    out += "| mark | gate | goal | measured, at its worst | | \n| --- | --- | --- | --- | --- |\n";
  else
    out += "\n" + padded("mark", 72) + padded("gate", 12) + padded("goal", 12) + "measured, at its worst\n";
  for (const mark& m : marks_of(results)) {
    const auto shown = [&](double x) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      char buffer[64];
      std::snprintf(buffer, sizeof buffer, m.form, x);
#pragma GCC diagnostic pop
      return std::string(buffer);
    };
    std::string measured = "not measured", verdict;
    if (!m.measured.empty()) {
      const auto worse = [&](const mark::value& a, const mark::value& b) {
        return m.more_is_better ? a.number < b.number : a.number > b.number;
      };
      const mark::value& worst = *std::min_element(m.measured.begin(), m.measured.end(), worse);
      const auto reaches = [&](double wanted) { return m.more_is_better ? worst.number >= wanted : worst.number <= wanted; };
      measured = shown(worst.number);
      if (m.measured.size() > 1) measured += " (" + worst.where + ")";
      verdict = reaches(m.goal) ? "goal reached" : reaches(m.gate) ? "passed" : "FAILED";
    }
    const std::string sign = m.more_is_better ? ">= " : "<= ";
    if (in_markdown)
      out += "| " + m.what + " | " + sign + shown(m.gate) + " | " + sign + shown(m.goal) + " | " + measured + " | " + verdict +
             " |\n";
    else
      out += padded(m.what, 72) + padded(sign + shown(m.gate), 12) + padded(sign + shown(m.goal), 12) +
             padded(measured, 44) + verdict + "\n";
  }
  return out;
}

// --- tables of the groups -----------------------------------------------------------------------------------------------

std::string with_unit(double seconds) {
  const double us = seconds * 1e6;
  return us < 1e4 ? text(us < 10 ? "%.2f us" : us < 100 ? "%.1f us" : "%.0f us", us) : text("%.1f ms", us * 1e-3);
}

/// What times are compared with: the first of these that is there.
const json* base_of(const json& g) {
  for (const char* const name : {"fused", "full", "fused, one thread"})
    if (const json* const m = method_of(g, name)) return m;
  return nullptr;
}

std::string table(const json& g, int& noisy, int& rows) {
  std::string out = text("\n%s (%s)\n", g["name"].get<std::string>().c_str(), g["clock"].get<std::string>().c_str());
  out += "  " + padded("", 36) + text("%12s %9s %8s %8s %11s %10s\n", "median", "to fused", "spread", "peak", "ulp error", "correct");
  const json* const base = base_of(g);
  std::string apart;
  for (const json& m : g["methods"]) {
    const std::string name = m["name"];
    if (m.contains("missing")) {
      apart += "  " + padded(name, 36) + "missing: " + m["missing"].get<std::string>() + "\n";
      continue;
    }
    if (m.contains("wrong")) {
      apart += "  " + padded(name, 36) + "WRONG, not timed: " + m["wrong"].get<std::string>() + "\n";
      continue;
    }
    const double spread = m["spread"];
    const bool too_noisy = spread > largest_spread;
    noisy += too_noisy ? 1 : 0;
    ++rows;
    const bool measure_of_machine = name == "peak" || name == "bandwidth";
    const std::string to_base =
        base == nullptr || measure_of_machine ? "" : text(median_of(m) < 9.995 * median_of(*base) ? "%.2f" : "%.1f", median_of(m) / median_of(*base));
    const auto share = share_of_peak(g, m);
    out += "  " + padded(name, 36) +
           text("%12s %9s %7.1f%%%s", with_unit(median_of(m)).c_str(), to_base.c_str(), spread * 100, too_noisy ? "!" : " ");
    out += text("%7s ", share ? text("%.0f%%", *share * 100).c_str() : "");
    if (m.contains("largest_ulp_error"))
      out += text("%11s %9.1f%%", text(m["largest_ulp_error"] < 10 ? "%.2f" : "%.0f", m["largest_ulp_error"].get<double>()).c_str(),
                  m["correctly_rounded"].get<double>() * 100);
    if (name == "peak")
      out += text("  %.1f G multiply-adds a second, %s", g["multiply_adds_per_second"].get<double>() * 1e-9,
                  g["peak_instruction_set"].get<std::string>().c_str());
    if (name == "bandwidth") out += text("  %.1f GB a second", g["bytes"].get<double>() / median_of(m) * 1e-9);
    out += "\n";
  }
  return out + apart;
}

std::string claims_text(const json& g) {
  std::string out = "\nclaims\n";
  out += text("  double-double tier, N(0,1): %.0f of %.0f elements left open, %.0f undecided in the end\n",
              g["undecided"]["left_by_double_double"].get<double>(), g["undecided"]["elements"].get<double>(),
              g["undecided"]["undecided"].get<double>());
  const json& m = g["against_mpfr"];
  if (m.contains("missing"))
    out += "  against MPFR: missing: " + m["missing"].get<std::string>() + "\n";
  else
    out += text("  against MPFR, 400 bits: %.0f of %.0f certified elements wrong; largest error / bound of the tier %.3f\n",
                m["wrong"].get<double>(), m["compared"].get<double>(), m["error_over_bound"].get<double>());
  if (g["memory"].is_array())
    for (const json& row : g["memory"])
      out += text("  memory beyond inputs and output, T = %.0f, d = 64: fused %.1f MB, certified %.1f MB (T x T doubles: %.1f MB)\n",
                  row["T"].get<double>(), row["fused"].get<double>() / 1e6, row["certified"].get<double>() / 1e6,
                  row["T"].get<double>() * row["T"].get<double>() * 8e-6);
  return out;
}

}  // namespace

std::string report(const json& results) {
  std::string out;
  int noisy = 0, rows = 0;
  double most_load = 0;
  std::set<std::string> beside;
  std::set<std::string> machines;
  for (const json& g : results["groups"]) {
    most_load = std::max(most_load, g["load"].get<double>());
    machines.insert(g.contains("processor") ? g["processor"].get<std::string>() + ", " + g["compiler"].get<std::string>() : "");
    if (g.contains("running_beside"))
      for (const json& name : g["running_beside"]) beside.insert(name.get<std::string>());
    if (g.contains("missing"))
      out += "\n" + g["name"].get<std::string>() + "\n  missing: " + g["missing"].get<std::string>() + "\n";
    else if (g.contains("sizes"))
      for (const json& size : g["sizes"]) out += table(size, noisy, rows);
    else if (g.contains("undecided"))
      out += claims_text(g);
    else if (g.contains("methods"))
      out += table(g, noisy, rows);
    else if (g.contains("compiling")) {
      out += "\ncompiling bench/compile/weights_16x16.cpp\n";
      for (const json& c : g["compiling"])
        out += "  " + padded(c["compiler"], 36) +
               (c.contains("seconds") ? text("%.1f s", c["seconds"].get<double>()) : "missing: " + c["missing"].get<std::string>()) + "\n";
    }
  }
  out +=
      "\n  to fused: time / time of the fused kernel in the same group; peak: multiply-adds of the two products a second, of the\n"
      "  measured peak; ulp error: the largest, against the exact value; correct: share of correctly rounded elements.\n";
  out += marks_table(results, false);
  if (noisy > 0)
    out += text("\nToo noisy to conclude: %d of %d rows, marked !, have repeats that spread over more than %.0f %% (between the "
                "quartiles).\n",
                noisy, rows, largest_spread * 100);
  if (!beside.empty()) {
    out += "\nOther processes ran at the same time:";
    for (const std::string& name : beside) out += ' ' + name;
    out += "\n";
  }
  if (machines.size() > 1) out += "\nThe groups were measured by different machines or compilers; they do not compare.\n";
  if (noisy > 0 || !beside.empty())
    out += text("\nThe load was up to %.1f. Run it again when nothing else runs.\n", most_load);
  return out;
}

std::string markdown(const json& results) {
  std::string out;
  const auto row = [&](const char* type, const char* method, const std::string& label) {
    std::string cells;
    bool any = false;
    for (const char* const size : {"T = 64, d = 64", "T = 512, d = 64", "T = 2048, d = 64", "T = 2048, d = 128"}) {
      const json* const g = group_of(results, std::string(type) + ", " + size);
      const json* const m = g == nullptr ? nullptr : method_of(*g, method);
      const json* const base = g == nullptr ? nullptr : base_of(*g);
      if (m == nullptr || base == nullptr) {
        cells += " | ";
        continue;
      }
      any = true;
      if (const auto share = share_of_peak(*g, *m); share && std::string(method) == "fused")
        cells += text(" | %s, %.0f %%", with_unit(median_of(*m)).c_str(), *share * 100);
      else
        cells += text(" | %.2f", median_of(*m) / median_of(*base));
    }
    if (any) out += "| " + label + cells + " |\n";
  };
  out += "| T, d | 64, 64 | 512, 64 | 2048, 64 | 2048, 128 |\n| --- | --- | --- | --- | --- |\n";
  row("binary64", "fused", "**fused**, binary64: time, share of the multiply-add peak");
  row("binary64", "certified binary64", "**certified**, every element correctly rounded, binary64");
  row("binary64", "certified binary32", "certified, binary32");
  row("binary64", "certified binary16", "certified, binary16");
  row("binary64", "certified bfloat16", "certified, bfloat16");
  row("binary64", "OpenBLAS + vector exp", "OpenBLAS + the fused kernel's exp");
  row("binary64", "OpenBLAS + libm exp", "OpenBLAS + libm's exp");
  row("binary64", "Eigen expressions", "Eigen expressions");
  row("binary64", "plain loops, -O3", "plain loops, -O3");
  row("binary32", "fused", "**fused**, binary32: time, share of the peak");
  row("binary32", "OpenBLAS + vector exp", "OpenBLAS + the fused kernel's exp, to fused binary32");
  row("binary32", "oneDNN", "oneDNN, to fused binary32");
  if (const json* const g = group_of(results, "many digits, T = 256, d = 64")) {
    out += "\n| T = 256, d = 64 | slower than certified | ulp error | correctly rounded |\n| --- | --- | --- | --- |\n";
    for (const json& m : (*g)["methods"])
      if (m.contains("median")) {
        const auto x = ratio(*g, m["name"], "certified binary64");
        out += text("| %s | %s | %s | %.1f %% |\n", m["name"].get<std::string>().c_str(), x ? text(*x < 10 ? "%.2f" : "%.0f", *x).c_str() : "",
                    text(m["largest_ulp_error"] < 10 ? "%.2f" : "%.0f", m["largest_ulp_error"].get<double>()).c_str(),
                    m["correctly_rounded"].get<double>() * 100);
      }
  }
  return out + "\n" + marks_table(results, true);
}

std::vector<std::pair<std::string, std::string>> plots(const json& results) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](const std::string& file, const plot& p) {
    if (const std::string text_of_it = svg(p); !text_of_it.empty()) all.emplace_back(file, text_of_it);
  };

  // Accuracy against time, at the size that every method can do.
  plot accuracy{"Attention, T = 256, d = 64, binary64: accuracy against time", "time, us", "largest error, ulp", {}};
  std::set<std::string> seen;
  for (const char* const name : {"binary64, T = 256, d = 64", "many digits, T = 256, d = 64"}) {
    const json* const g = group_of(results, name);
    if (g == nullptr) continue;
    for (const json& m : (*g)["methods"]) {
      const std::string method = m["name"];
      // Certified narrow formats have other ulps.
      if (!m.contains("median") || !m.contains("largest_ulp_error") || method == "certified binary32" ||
          method == "certified binary16" || method == "certified bfloat16" || !seen.insert(method).second)
        continue;
      accuracy.all.push_back({method, {{median_of(m) * 1e6, m["largest_ulp_error"].get<double>()}}});
    }
  }
  add("accuracy-against-time.svg", accuracy);

  for (const char* const type : {"binary64", "binary32"}) {
    plot times{std::string("Attention, d = 64, ") + type + ": time against T", "T", "time, us", {}, {64, 256, 512, 1024, 2048, 4096}};
    std::vector<std::string> names;
    std::map<std::string, series> by_name;
    for (const double t : times.x_marks) {
      const json* const g = group_of(results, text("%s, T = %.0f, d = 64", type, t));
      if (g == nullptr) continue;
      for (const json& m : (*g)["methods"]) {
        const std::string name = m["name"];
        if (name == "peak" || !m.contains("median")) continue;
        if (by_name.emplace(name, series{name, {}}).second) names.push_back(name);
        by_name[name].points.emplace_back(t, median_of(m) * 1e6);
      }
    }
    for (const std::string& name : names) times.all.push_back(by_name[name]);
    add(std::string("time-against-T-") + type + ".svg", times);
  }
  return all;
}

}  // namespace bench
