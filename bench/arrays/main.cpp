// The fused kernel and the certified reference beside what others have, on arrays: ./dev bench, docs/benchmarks.md.
#include "groups.hpp"
#include "machine.hpp"
#include "report.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr const char* usage = R"(usage: attest_bench_arrays [option...]

  --only NAME       measure only the groups whose name contains NAME (may be given again); the others keep what the file says
  --quick           small sizes and fewer repeats, into a file of its own
  --list            the names of the groups
  --report          measure nothing, report on what the file says
  --readme          measure nothing, the figures as Markdown
  --docs FOLDER     the plots into this folder, too
  --output FOLDER   where results.json and the plots go (default: the working directory)
  --source FOLDER   the source of attest
  --compiler CXX    for what compiling costs (may be given again)
  --python PYTHON   with NumPy
  --library FILE    libattest, for Python
)";

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(2);
}

void write(const fs::path& file, const std::string& text) {
  const fs::path before = file.string() + ".new";
  std::ofstream(before) << text;
  fs::rename(before, file);
}

json read(const fs::path& file) {
  std::ifstream in(file);
  if (!in) return {{"groups", json::array()}};
  json result = json::parse(in, nullptr, false);
  if (result.is_discarded() || !result.contains("groups")) stop(file.string() + " is not what this program writes: remove it");
  return result;
}

void describe_machine(const std::vector<std::string>& removed) {
  std::printf("processor  %s\n", processor_name().c_str());
  std::printf("vectors    %s\n", best_instruction_set().c_str());
  std::printf("compiler   %s\n", compiler_name().c_str());
  std::printf("flags      %s; peers: %s\n", ATTEST_BENCH_FLAGS, ATTEST_BENCH_PEER_FLAGS);
  std::printf("libraries ");
  for (const std::string& name : library_versions()) std::printf(" %s;", name.c_str());
  std::printf("\n");
  if (!removed.empty()) {
    std::printf("removed    from this process's environment, as they change how libraries work:");
    for (const std::string& name : removed) std::printf(" %s", name.c_str());
    std::printf("\n");
  }
  std::printf("load       %.1f\n", load_average());
  std::printf("measured   processor time (threads: the clock on the wall), medians of interleaved repeats, one thread\n");
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const std::vector<std::string> removed = with_clean_environment(argv);
  settings s;
  std::vector<std::string> only;
  fs::path output = ".", docs;
  bool list = false, report_only = false, readme = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) stop(std::string(option) + " needs a value");
      return std::string(argv[++i]);
    };
    if (option == "--only")
      only.push_back(value());
    else if (option == "--quick")
      s.quick = true;
    else if (option == "--list")
      list = true;
    else if (option == "--report")
      report_only = true;
    else if (option == "--readme")
      readme = report_only = true;
    else if (option == "--docs")
      docs = value();
    else if (option == "--output")
      output = value();
    else if (option == "--source")
      s.root = value();
    else if (option == "--compiler")
      s.compilers.push_back(value());
    else if (option == "--python")
      s.python = value();
    else if (option == "--library")
      s.library = value();
    else if (option == "--help") {
      std::printf("%s", usage);
      return 0;
    } else
      stop("no option '" + std::string(option) + "'; see --help");
  }

  const std::vector<group> all = groups(s);
  if (list) {
    for (const group& g : all) std::printf("%s\n", g.name.c_str());
    return 0;
  }
  const auto wanted = [&](const group& g) {
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& name) {
             return g.name.find(name) != std::string::npos;
           });
  };
  if (std::none_of(all.begin(), all.end(), wanted)) stop("no group's name contains '" + only.front() + "'; see --list");

  const fs::path file = output / (s.quick ? "results-quick.json" : "results.json");
  json results = read(file);
  if (!report_only) {
    describe_machine(removed);
    one_thread_for_peers();
    results["processor"] = processor_name();
    results["instruction_set"] = best_instruction_set();
    results["compiler"] = compiler_name();
    results["flags"] = ATTEST_BENCH_FLAGS;
    results["peer_flags"] = ATTEST_BENCH_PEER_FLAGS;
    results["libraries"] = library_versions();
    results["removed_from_environment"] = removed;
    const double start = processor_seconds();
    while (processor_seconds() - start < 0.5) multiply_add<double>(1e7);  // the clock rate goes up
    for (const group& g : all) {
      if (!wanted(g)) continue;
      json measured = g.measure();
      measured["processor"] = results["processor"];
      measured["compiler"] = results["compiler"];
      bool placed = false;
      for (json& old : results["groups"])
        if (old["name"] == g.name) old = measured, placed = true;
      if (!placed) results["groups"].push_back(measured);
      write(file, results.dump(1) + "\n");  // a run that is interrupted keeps what it has
    }
    // In the order of the list, whatever was measured when.
    json ordered = json::array();
    for (const group& g : all)
      for (const json& old : results["groups"])
        if (old["name"] == g.name) ordered.push_back(old);
    results["groups"] = ordered;
    write(file, results.dump(1) + "\n");
  }
  std::printf("%s", readme ? markdown(results).c_str() : report(results).c_str());
  for (const auto& [name, text] : plots(results)) {
    write(output / name, text);
    if (!docs.empty()) write(docs / name, text);
  }
  if (!readme) std::printf("\nwritten    %s and plots beside it\n", fs::absolute(file).lexically_normal().c_str());
  return 0;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench: %s\n", e.what());
    return 1;
  }
}
