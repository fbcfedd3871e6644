#include "groups.hpp"

#include "exact_rows.hpp"
#include "machine.hpp"
#include "vectors.hpp"

#include <attest/kernel/float_environment.hpp>
#include <attest/kernel/fused.hpp>
#include <attest/reference/certified_attention.hpp>

#include "reference/double_double/tier.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>

namespace bench {

using attest::dtype;

namespace {

effort effort_of(const settings& s) { return s.quick ? effort{5, 0.002} : effort{9, 0.01}; }

// --- what the machine can do --------------------------------------------------------------------------------------

constexpr double peak_count = 2e7;

/// The instruction set with the most multiply-adds a second.
template <class T>
const instruction_set& widest() {
  static const instruction_set best = [] {
    instruction_set found;
    double shortest = INFINITY;
    for (const instruction_set& one : instruction_sets()) {
      use(one);
      multiply_add<T>(peak_count);  // warms up
      for (int repeat = 0; repeat < 5; ++repeat) {
        const double start = processor_seconds();
        const double count = multiply_add<T>(peak_count);
        const double each = (processor_seconds() - start) / count;
        if (each < shortest) shortest = each, found = one;
      }
    }
    use_best();
    return found;
  }();
  return best;
}

template <class T>
void add_peak(methods& all) {
  const instruction_set& one = widest<T>();
  all.push_back({.name = "peak", .run = [one] {
                   use(one);
                   multiply_add<T>(peak_count);
                   use_best();
                 }});
}

/// The rate of the peak, into the group.
template <class T>
void state_peak(json& g) {
  g["peak_instruction_set"] = widest<T>().name;
  for (const json& m : g["methods"])
    if (m["name"] == "peak") g["multiply_adds_per_second"] = multiply_add<T>(peak_count) / m["median"].get<double>();
}

void state_problem(json& g, const problem& p) {
  g["dtype"] = to_string(p.type);
  g["heads"] = p.heads;
  g["queries"] = p.queries;
  g["keys"] = p.keys;
  g["width"] = p.width;
  g["multiply_adds"] = p.multiply_adds();
}

// --- kernels and the certified reference ----------------------------------------------------------------------------

// The slow ones only where they end soon.
void add_uncertified(methods& all, const problem& p, std::size_t t) {
  add_blas(all, p);
  add_eigen(all, p);
  add_onednn(all, p);
  add_loops(all, p);
  if (t <= 512) {
    add_stable(all, p);
    add_naive(all, p);
  }
}

json doubles(const std::string& name, std::size_t t, std::size_t d, const settings& s) {
  const problem p(dtype::binary64, 1, t, t, d);
  const problem single(dtype::binary32, 1, t, t, d);
  const problem half(dtype::binary16, 1, t, t, d);
  const problem brain(dtype::bfloat16, 1, t, t, d);
  methods all;
  add_peak<double>(all);
  add_fused(all, p);
  add_certified(all, p);
  add_certified(all, single);
  add_certified(all, half);
  add_certified(all, brain);
  add_uncertified(all, p, t);
  json g = measure(name, all, effort_of(s), stopwatch::processor_time);
  state_problem(g, p);
  state_peak<double>(g);
  return g;
}

json floats(const std::string& name, std::size_t t, std::size_t d, const settings& s) {
  const problem p(dtype::binary32, 1, t, t, d);
  methods all;
  add_peak<float>(all);
  add_fused(all, p);
  add_uncertified(all, p, t);
  json g = measure(name, all, effort_of(s), stopwatch::processor_time);
  state_problem(g, p);
  state_peak<float>(g);
  return g;
}

json precise(const std::string& name, std::size_t t, std::size_t d, const settings& s) {
  const problem p(dtype::binary64, 1, t, t, d);
  methods all;
  add_fused(all, p);
  add_certified(all, p);
  add_arb(all, p);
  add_mpfr(all, p);
  add_float128(all, p);
  add_boost_quad(all, p);
  json g = measure(name, all, effort_of(s), stopwatch::processor_time);
  state_problem(g, p);
  return g;
}

// --- masks, decoding, threads, kinds of inputs ------------------------------------------------------------------------

json masks(const std::string& name, const settings& s) {
  const std::size_t t = s.quick ? 512 : 2048;
  problem full(dtype::binary64, 1, t, t, 64);
  problem causal(dtype::binary64, 1, t, t, 64);
  problem boolean(dtype::binary64, 1, t, t, 64);
  causal.options.causal = true;
  std::vector<unsigned char> visible(t * t);
  std::mt19937 engine(7);
  for (unsigned char& x : visible) x = static_cast<unsigned char>(engine() & 1U);
  boolean.options.mask = attest::any_tensor(visible.data(), dtype::boolean, attest::layout{t, t});
  boolean.options.empty_row = attest::empty_row_policy::zero;
  methods all;
  add_fused(all, full, 1, "full");
  add_fused(all, causal, 1, "causal");
  add_fused(all, boolean, 1, "boolean mask, half of the keys");
  json g = measure(name, all, effort_of(s), stopwatch::processor_time);
  state_problem(g, full);
  return g;
}

json decode(const std::string& name, dtype type, const settings& s) {
  const std::size_t heads = s.quick ? 8 : 32;
  problem p(type, heads, 1, 8192, 64);
  const auto bytes = 2 * static_cast<double>(heads * p.keys * p.width) * static_cast<double>(attest::size_of(type));
  // As much memory as the keys and values have, and no part of them.
  const std::vector<double> memory(static_cast<std::size_t>(bytes / 8), 1.0);
  methods all;
  all.push_back({.name = "bandwidth", .run = [&] {
                   volatile double keep = read_all(memory.data(), memory.size());
                   (void)keep;
                 }});
  add_fused(all, p);
  json g = measure(name, all, effort_of(s), stopwatch::processor_time);
  state_problem(g, p);
  g["bytes"] = bytes;
  return g;
}

json threads(const std::string& name, const settings& s) {
  const std::size_t t = s.quick ? 512 : 2048;
  const problem p(dtype::binary64, 1, t, t, 64);
  const problem single(dtype::binary32, 1, t, t, 64);
  methods all;
  add_fused(all, p, 1, "fused, one thread");
  add_fused(all, p, 2, "fused, two threads");
  add_fused(all, single, 1, "fused binary32, one thread");
  add_fused(all, single, 2, "fused binary32, two threads");
  add_certified(all, p, 1, "certified, one thread");
  add_certified(all, p, 2, "certified, two threads");
  json g = measure(name, all, effort_of(s), stopwatch::wall);
  state_problem(g, p);
  return g;
}

json kinds(const std::string& name, const settings& s) {
  const std::size_t t = 512;
  const problem normal(dtype::binary64, 1, t, t, 64);
  problem causal(dtype::binary64, 1, t, t, 64);
  causal.options.causal = true;
  const problem padded(dtype::binary64, 1, t, t, 64, inputs::zero_padded);
  const problem constant(dtype::binary64, 1, t, t, 64, inputs::constant_values);
  const problem integers(dtype::binary64, 1, t, t, 64, inputs::integers);
  const problem peaked(dtype::binary64, 1, t, t, 64, inputs::peaked);
  methods all;
  add_fused(all, normal);
  add_certified(all, normal, 1, "N(0,1)");
  add_certified(all, causal, 1, "causal");
  add_certified(all, padded, 1, "zero-padded");
  add_certified(all, constant, 1, "constant V");
  add_certified(all, integers, 1, "integers");
  add_certified(all, peaked, 1, "peaked");
  json g = measure(name, all, effort_of(s), stopwatch::processor_time);
  state_problem(g, normal);
  return g;
}

// --- what is no time ------------------------------------------------------------------------------------------------

/// How many elements of N(0,1) the double-double tier leaves to the next, and how many nobody decides.
json undecided(const settings& s) {
  std::size_t elements = 0, by_pairs = 0, left = 0;
  for (const std::size_t t : {64U, 256U, 512U, 1024U, 2048U}) {
    if (s.quick && t > 512) break;
    const problem p(dtype::binary64, 1, t, t, 64);
    array out(dtype::binary64, attest::layout{1, 1, t, 64});
    attest::certified_options how;
    how.threads = 0;
    const attest::certification c =
        attest::certified_attention({p.q.view(), p.k.view(), p.v.view()}, {}, {out.result()}, how);
    elements += p.outputs();
    by_pairs += c.settled[static_cast<std::size_t>(attest::reference_tier::double_double)];
    left += c.undecided;
  }
  return {{"elements", elements}, {"left_by_double_double", elements - by_pairs}, {"undecided", left}};
}

/// Certified doubles, and the double-double tier's claims, against 400 bits of MPFR on some rows.
json against_mpfr(const settings& s) {
  std::size_t compared = 0, wrong = 0;
  double error_over_bound = 0;
  for (const std::size_t t : {64U, 256U, 1024U}) {
    if (s.quick && t > 256) break;
    for (const std::size_t d : {64U, 128U}) {
      const problem p(dtype::binary64, 1, t, t, d);
      std::vector<std::size_t> rows;
      for (std::size_t i = 0; i < 16; ++i) rows.push_back(i * t / 16);
      const std::optional<exact_rows> exact = rows_by_mpfr(p, rows);
      if (!exact) return {{"missing", "MPFR was not found when this was built (libmpfr-dev)"}};

      const attest::kernel::float_environment environment;
      const attest::double_double_tier::packed_head head(t, d, d, p.k.data<double>(), d, p.v.data<double>(), d);
      std::vector<double> high(rows.size() * d), low(high.size()), error(high.size());
      std::vector<attest::double_double_tier::query_row> queries;
      std::vector<attest::double_double_tier::row_results> results;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        queries.push_back({p.q.data<double>() + rows[i] * d, 0, t, 0, nullptr, nullptr});
        results.push_back({&high[i * d], &low[i * d], &error[i * d], nullptr, nullptr, nullptr, nullptr});
      }
      attest::double_double_tier::scratch memory;
      attest::double_double_tier::evaluate(head, {}, queries, results, memory);
      for (std::size_t i = 0; i < high.size(); ++i, ++compared) {
        const double certified = p.exact().high[rows[i / d] * d + i % d];
        wrong += certified == exact->high[i] ? 0 : 1;
        // The highs are next to each other, so their difference is exact.
        const double off = std::abs((exact->high[i] - high[i]) + (exact->low[i] - low[i]));
        error_over_bound = std::max(error_over_bound, off / error[i]);
      }
    }
  }
  return {{"compared", compared}, {"wrong", wrong}, {"error_over_bound", error_over_bound}};
}

template <bool Certified>
void run_for_memory(std::size_t t) {
  const problem p(dtype::binary64, 1, t, t, 64);
  methods all;
  if constexpr (Certified)
    add_certified(all, p);
  else
    add_fused(all, p);
  all.front().run();
}
void prepare_for_memory(std::size_t t) {
  const problem p(dtype::binary64, 1, t, t, 64);
  methods all;
  add_fused(all, p);
}

/// Bytes beyond inputs and output.
json memory(const settings& s) {
  json result = json::array();
  const std::size_t largest = s.quick ? 2048 : 8192;
  for (std::size_t t = largest / 4; t <= largest; t *= 2) {
    const double without = memory_of(prepare_for_memory, t);
    const double fused = memory_of(run_for_memory<false>, t) - without;
    const double certified = memory_of(run_for_memory<true>, t) - without;
    if (without < 0) return {{"missing", "memory of a process cannot be read here"}};
    result.push_back({{"T", t}, {"fused", fused}, {"certified", certified}});
  }
  return result;
}

json compiling(const settings& s) {
  json result = json::array();
  for (const std::string& compiler : s.compilers) {
    std::vector<double> seconds;
    for (int repeat = 0; repeat < (s.quick ? 1 : 3); ++repeat)
      seconds.push_back(seconds_of_command(compiler + " -std=c++20 -fsyntax-only -I'" + s.root + "/include' '" + s.root +
                                           "/bench/compile/weights_16x16.cpp'"));
    const double median = quantile(seconds, 0.5);
    if (median < 0)
      result.push_back({{"compiler", compiler}, {"missing", "it is not here, or does not compile the file"}});
    else
      result.push_back({{"compiler", compiler}, {"seconds", median}});
  }
  return result;
}

json claims(const std::string& name, const settings& s) {
  std::printf("measuring  %s\n", name.c_str());
  std::fflush(stdout);
  json g;
  g["name"] = name;
  g["when"] = static_cast<std::int64_t>(std::time(nullptr));
  g["load"] = load_average();
  g["memory"] = memory(s);  // first, while this process is small
  g["undecided"] = undecided(s);
  g["against_mpfr"] = against_mpfr(s);
  return g;
}

json compile_times(const std::string& name, const settings& s) {
  std::printf("measuring  %s\n", name.c_str());
  std::fflush(stdout);
  return {{"name", name}, {"when", static_cast<std::int64_t>(std::time(nullptr))}, {"load", load_average()},
          {"compiling", compiling(s)}};
}

json python(const std::string& name, const settings& s) {
  std::printf("measuring  %s\n", name.c_str());
  std::fflush(stdout);
  json g{{"name", name}, {"when", static_cast<std::int64_t>(std::time(nullptr))}, {"load", load_average()}};
  if (s.python.empty()) {
    g["missing"] = "no python3 with NumPy was found (python3-numpy; PYTHON=... names another)";
    return g;
  }
  const std::string file = s.library + ".python_peers.json";
  const std::string command = "'" + s.python + "' -B '" + s.root + "/bench/python_peers.py' --library '" + s.library +
                              "' --output '" + file + "'" + (s.quick ? " --quick" : "");
  if (std::system(command.c_str()) != 0) {
    g["missing"] = "bench/python_peers.py failed";
    return g;
  }
  std::ifstream in(file);
  g.update(json::parse(in));
  std::remove(file.c_str());
  return g;
}

}  // namespace

std::vector<group> groups(const settings& s) {
  std::vector<group> all;
  const auto add = [&](const std::string& name, auto f) {
    all.push_back({name, [=] { return f(name); }});
  };
  add("claims", [s](const auto& name) { return claims(name, s); });
  for (const std::size_t d : {64U, 128U})
    for (const std::size_t t : {64U, 256U, 512U, 1024U, 2048U, 4096U}) {
      if (s.quick && (t > 512 || d > 64)) continue;
      const std::string size = ", T = " + std::to_string(t) + ", d = " + std::to_string(d);
      add("binary64" + size, [=](const auto& name) { return doubles(name, t, d, s); });
      add("binary32" + size, [=](const auto& name) { return floats(name, t, d, s); });
    }
  for (const std::size_t d : {64U, 128U})
    for (const std::size_t t : {64U, 256U}) {
      if (s.quick && (t > 64 || d > 64)) continue;
      add("many digits, T = " + std::to_string(t) + ", d = " + std::to_string(d),
          [=](const auto& name) { return precise(name, t, d, s); });
    }
  add("masks", [s](const auto& name) { return masks(name, s); });
  add("decode, binary64", [s](const auto& name) { return decode(name, dtype::binary64, s); });
  add("decode, binary32", [s](const auto& name) { return decode(name, dtype::binary32, s); });
  add("threads", [s](const auto& name) { return threads(name, s); });
  add("kinds of inputs", [s](const auto& name) { return kinds(name, s); });
  add("Python", [s](const auto& name) { return python(name, s); });
  add("compiling", [s](const auto& name) { return compile_times(name, s); });
  return all;
}

}  // namespace bench
