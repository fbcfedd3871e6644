// What exactness costs at run time: every method on every head, checked, then timed in one process.
#include "methods.hpp"

#include <benchmark/benchmark.h>
#include <boost/version.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if __has_include(<gnu/libc-version.h>)
#include <gnu/libc-version.h>
#endif

namespace bench {

namespace {

constexpr int repeats = 15;
// A median whose repeats spread further than this (the middle half of them, relative to it) says nothing about a
// difference of a tenth.
constexpr double largest_spread = 0.05;

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(1);
}

void check(const head& h, const method& m) {
  m.run();
  if (const std::string wrong = m.check(); !wrong.empty()) stop("wrong answer: " + m.name + ", " + h.name + ": " + wrong);
  m.spoil();
  if (m.check().empty()) stop("the check of " + m.name + ", " + h.name + " does not see a wrong answer");
}

// --- measured ----------------------------------------------------------------------------------------------------

/// Seconds of processor time a run, of each repeat.
class collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration)
        seconds[run.run_name.function_name].push_back(run.cpu_accumulated_time / static_cast<double>(run.iterations));
  }

  std::map<std::string, std::vector<double>> seconds;
};

struct timing {
  double median;
  double spread;  // between the quartiles, relative to the median
};

timing timing_of(std::vector<double> seconds) {
  if (seconds.size() < 4) stop("fewer than four repeats were measured");
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(seconds.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, seconds.size() - 1);
    return seconds[below] + (place - std::floor(place)) * (seconds[above] - seconds[below]);
  };
  return {at(0.5), (at(0.75) - at(0.25)) / at(0.5)};
}

// --- printed -----------------------------------------------------------------------------------------------------

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  return "unknown";
}

std::string c_library() {
#ifdef __GLIBC__
  return std::string(", glibc ") + gnu_get_libc_version();
#else
  return "";
#endif
}

void print_machine() {
#if defined(__clang__)
  const char* const compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
  const char* const compiler = "g++ " __VERSION__;
#else
  const char* const compiler = "unknown";
#endif
  std::printf("processor  %s, %u threads\n", processor().c_str(), std::thread::hardware_concurrency());
  std::printf("compiler   %s\n", compiler);
  std::printf("flags      %s\n", ATTEST_BENCH_FLAGS);
  std::printf("libraries  Boost %d.%d.%d, Google Benchmark %s", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
              BOOST_VERSION % 100, ATTEST_BENCHMARK_VERSION);
#ifdef _GLIBCXX_RELEASE
  std::printf(", libstdc++ %d", _GLIBCXX_RELEASE);
#endif
  std::printf("%s\n", c_library().c_str());
}

/// Processes that wanted a processor during the last minute, on average; 0 where that is not known.
double load() {
  double average[1] = {0};
  return getloadavg(average, 1) == 1 ? average[0] : 0;
}

std::string with_unit(double seconds) {
  char text[32];
  const double us = seconds * 1e6;
  std::snprintf(text, sizeof text, us < 10 ? "%.3f" : us < 1000 ? "%.1f" : "%.0f", us);
  return text;
}

std::string ratio_text(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, ratio < 10 ? "%.2f" : ratio < 100 ? "%.1f" : "%.0f", ratio);
  return text;
}

struct measured {
  const method* what;
  timing time;
};

const measured& named(const std::vector<measured>& all, std::string_view name) {
  for (const measured& m : all)
    if (m.what->name == name) return m;
  stop("no method " + std::string(name));
}

/// Returns how many of the rows are too noisy to conclude from.
int print_head(const head& h, const std::vector<measured>& all) {
  std::printf("\n%s: T = %zu, C = %zu, d_k = %zu, d_v = %zu\n", h.name.c_str(), h.tokens, h.channels, h.key_width,
              h.value_width);
  std::printf("  %-24s %12s %10s %7s %7s %14s  %s\n", "", "median, us", "to stable", "spread", "digits", "ns per digit",
              "gives");
  const double stable = named(all, "stable, double").time.median;
  int noisy = 0;
  for (const measured& m : all) {
    char digits[32] = "exact";
    char cost[32] = "";
    if (m.what->digits > 0) {
      std::snprintf(digits, sizeof digits, "%.1f", m.what->digits);
      std::snprintf(cost, sizeof cost, "%.2f",
                    m.time.median * 1e9 / (m.what->digits * static_cast<double>(m.what->numbers)));
    }
    const bool too_noisy = m.time.spread > largest_spread;
    noisy += too_noisy ? 1 : 0;
    std::printf("  %-24s %12s %10s %6.1f%%%s %6s %14s  %s\n", m.what->name.c_str(), with_unit(m.time.median).c_str(),
                ratio_text(m.time.median / stable).c_str(), m.time.spread * 100, too_noisy ? "!" : " ", digits, cost,
                m.what->gives.c_str());
  }
  // What one more digit costs: the slope between two precisions, not the average.
  const auto slope = [&](const char* from, const char* to) {
    const measured& a = named(all, from);
    const measured& b = named(all, to);
    std::printf("  one more digit of each number, from %s to %.0f: %.0f ns\n", from, b.what->digits,
                (b.time.median - a.time.median) * 1e9 /
                    ((b.what->digits - a.what->digits) * static_cast<double>(b.what->numbers)));
  };
  slope("reference, 17 digits", "reference, 50 digits");
  slope("reference, 50 digits", "reference, 200 digits");
  return noisy;
}

int run(int argc, char** argv) {
  std::vector<head> heads;
  heads.push_back(chapter());
  heads.push_back(sixteen_tokens());
  std::vector<std::vector<method>> all;
  for (const head& h : heads) all.push_back(methods(h));
  for (std::size_t i = 0; i < heads.size(); ++i)
    for (const method& m : all[i]) check(heads[i], m);
  std::printf("checked    every answer, and that each check sees a wrong one\n");

  // The repeats of all methods are shuffled, so that a slow minute of the machine is everybody's.
  std::vector<char*> arguments(argv, argv + argc);
  std::string shuffled = "--benchmark_enable_random_interleaving=true";
  arguments.insert(arguments.begin() + 1, shuffled.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  const auto full_name = [](const head& h, const method& m) { return h.name + ": " + m.name; };
  for (std::size_t i = 0; i < heads.size(); ++i)
    for (const method& m : all[i])
      benchmark::RegisterBenchmark(full_name(heads[i], m).c_str(),
                                   [&m](benchmark::State& state) {
                                     for (auto _ : state) {
                                       m.run();
                                       benchmark::ClobberMemory();
                                     }
                                   })
          ->Repetitions(repeats)
          ->MinTime(0.02);
  print_machine();
  const double load_before = load();
  std::printf("load       %.1f\n", load_before);
  std::printf("measured   processor time; medians of %d shuffled repeats of at least 20 ms, one thread\n", repeats);
  std::fflush(stdout);
  collector results;
  benchmark::RunSpecifiedBenchmarks(&results);

  int noisy = 0;
  int rows = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    std::vector<measured> table;
    for (const method& m : all[i]) table.push_back({&m, timing_of(results.seconds[full_name(heads[i], m)])});
    noisy += print_head(heads[i], table);
    rows += static_cast<int>(table.size());
  }
  std::printf(
      "\n  digits: what the method is sure of, relative to the largest number (kernels: from their proved error bounds)\n"
      "  ns per digit: time / (numbers x digits)\n");
  // Other work takes caches, memory bandwidth and clock rate away even where a processor is free for this one.
  const bool busy = load_before > 0.5 * std::max(1u, std::thread::hardware_concurrency());
  if (noisy > 0)
    std::printf("\nToo noisy to conclude: %d of %d rows, marked !, have repeats that spread over more than %.0f %% (between "
                "the quartiles).\n",
                noisy, rows, largest_spread * 100);
  if (busy) std::printf("\nToo busy to conclude: the machine had a load of %.1f before the start.\n", load_before);
  if (noisy > 0 || busy) std::printf("Run it again when nothing else runs.\n");
  return 0;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv); }
