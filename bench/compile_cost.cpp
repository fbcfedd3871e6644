// What each public header and each proof costs to compile, and what a change has cost since the baseline was written.
//
//   attest_compile_cost --compiler CXX --source ROOT [--update] [--without-times] [NAME...]
//
// Times are user times of the compiler, as multiples of what a file takes that includes <string> alone, so that machines
// compare; peak memory is the compiler's. Steps are those of the costliest constant evaluation of a proof: the smallest
// limit (-fconstexpr-steps of clang, -fconstexpr-ops-limit of g++) under which it compiles, found by bisection to 5 %.
// They, and nearly so memory, do not depend on what else the machine does. (POSIX.)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr int rounds = 3;
constexpr double time_change = 0.10;  // what is called a change, and a spread that is too noisy to conclude
constexpr double memory_change = 0.05;
constexpr double steps_change = 0.05;  // and how closely they are found

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "compile cost: %s\n", message.c_str());
  std::exit(2);
}

// --- processes ---------------------------------------------------------------------------------------------------

struct run_cost {
  bool success;
  double user_seconds;
  double megabytes;  // of the largest process
};

/// Runs the command with its output going nowhere; no process of it for longer than so many seconds of processor time.
run_cost run(const std::vector<std::string>& command, double most_seconds = 600) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) stop("cannot start a process");
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    const auto seconds = static_cast<rlim_t>(std::ceil(most_seconds));
    const rlimit limit{seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
    execvp(arguments[0], arguments.data());
    std::_Exit(127);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) stop("cannot run " + command[0]);
  return {status == 0, static_cast<double>(used.ru_utime.tv_sec) + static_cast<double>(used.ru_utime.tv_usec) * 1e-6,
          static_cast<double>(used.ru_maxrss) / 1024};
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) stop("cannot run " + command);
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, count);
  pclose(pipe);
  return text;
}

// --- the compiler and what it compiles ---------------------------------------------------------------------------

struct compiler {
  std::string command;
  std::string name;     // "g++-12", "clang++-19": what the baseline is called
  std::string version;  // "12.2.0"
  std::string limit;    // the option that limits the steps of an evaluation
  long default_limit;
  std::string first_error_only;
};

compiler compiler_of(const std::string& command) {
  std::map<std::string, std::string> macros;
  std::istringstream lines(output_of("'" + command + "' -dM -E -x c++ /dev/null"));
  for (std::string define, name, value; lines >> define >> name && std::getline(lines, value);)
    macros[name] = value.empty() ? "" : value.substr(1);
  if (macros.contains("__clang_major__"))
    return {command, "clang++-" + macros["__clang_major__"],
            macros["__clang_major__"] + '.' + macros["__clang_minor__"] + '.' + macros["__clang_patchlevel__"],
            "-fconstexpr-steps", 1048576, "-ferror-limit=1"};
  if (macros.contains("__GNUC__"))
    return {command, "g++-" + macros["__GNUC__"],
            macros["__GNUC__"] + '.' + macros["__GNUC_MINOR__"] + '.' + macros["__GNUC_PATCHLEVEL__"],
            "-fconstexpr-ops-limit", 33554432, "-fmax-errors=1"};
  stop(command + " is neither g++ nor clang++");
}

struct unit {
  std::string name;
  fs::path source;
  bool is_proof;
};

/// Every public header, in a file of its own in `scratch`; the proofs; and the units of bench/compile.
std::vector<unit> units_of(const fs::path& root, const fs::path& scratch) {
  std::vector<unit> units;
  for (const auto& each : fs::recursive_directory_iterator(root / "include"))
    if (each.path().extension() == ".hpp") {
      const std::string name = each.path().lexically_relative(root / "include").string();
      std::string file = name;
      std::replace(file.begin(), file.end(), '/', '_');
      const fs::path source = scratch / (file + ".cpp");
      std::ofstream(source) << "#include <" << name << ">\n";
      units.push_back({name, source, false});
    }
  for (const char* folder : {"proofs", "bench/compile"})
    for (auto each = fs::recursive_directory_iterator(root / folder); each != fs::recursive_directory_iterator(); ++each) {
      if (each->path().filename() == "refuted") each.disable_recursion_pending();
      if (each->path().extension() == ".cpp")
        units.push_back({each->path().lexically_relative(root).string(), each->path(), true});
    }
  std::sort(units.begin(), units.end(), [](const unit& a, const unit& b) {
    return a.is_proof != b.is_proof ? b.is_proof : a.name < b.name;
  });
  return units;
}

std::vector<std::string> compile(const compiler& with, const fs::path& root, const fs::path& source) {
  return {with.command, "-std=c++20", "-fsyntax-only", with.first_error_only, "-I" + (root / "include").string(), source.string()};
}

/// The smallest limit under which the unit, which takes `seconds` to compile, does, to 5 % above; what was known before is
/// tried first.
std::optional<long> steps_of(const compiler& with, const fs::path& root, const unit& u, double seconds,
                             std::optional<long> known) {
  // g++ can take many minutes to write the message about an evaluation that it has cut short.
  const double most_seconds = 3 * seconds + 5;
  const auto enough = [&](long limit) {
    auto command = compile(with, root, u.source);
    command.push_back(with.limit + '=' + std::to_string(limit));
    return run(command, most_seconds).success;
  };
  const auto below = [](long limit) { return static_cast<long>(static_cast<double>(limit) / (1 + steps_change)); };
  if (known && enough(*known) && !enough(below(*known))) return known;
  long too_few = 1000;
  if (enough(too_few)) return too_few;
  long sufficient = with.default_limit;
  if (!enough(sufficient)) return std::nullopt;
  while (below(sufficient) > too_few) {
    const long middle = static_cast<long>(std::sqrt(static_cast<double>(too_few) * static_cast<double>(sufficient)));
    (enough(middle) ? sufficient : too_few) = middle;
  }
  return sufficient;
}

// --- the baseline ------------------------------------------------------------------------------------------------

struct cost {
  std::optional<double> time;  // of <string>'s; absent: not measured, or too noisy
  double spread = 0;
  double megabytes = 0;
  std::optional<long> steps;  // of proofs
};

std::map<std::string, cost> read_baseline(const fs::path& path) {
  std::map<std::string, cost> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string name, time, steps;
    cost c;
    if (!(fields >> name >> time >> c.megabytes >> steps)) stop(path.string() + ": not a line of a baseline: " + line);
    if (time != "-") c.time = std::atof(time.c_str());
    if (steps != "-") c.steps = std::atol(steps.c_str());
    all[name] = c;
  }
  return all;
}

std::string text_of(const char* form, double x) {
  char text[64];
  std::snprintf(text, sizeof text, form, x);
  return text;
}

void write_baseline(const fs::path& path, const compiler& with, const std::map<std::string, cost>& all) {
  std::ofstream file(path);
  file << "# What compiling costs with " << with.name.substr(0, with.name.find('-')) << ' ' << with.version
       << ", as `./dev bench compile --update` wrote it.\n"
          "# time: user time as a multiple of that of a file that includes <string> alone; - where none was measured\n"
          "# MB: peak memory of the compiler\n"
          "# steps: the smallest " << with.limit << " that suffices, to 5 %\n"
          "# unit time MB steps\n";
  for (const auto& [name, c] : all)
    file << name << ' ' << (c.time ? text_of("%.2f", *c.time) : "-") << ' ' << text_of("%.0f", c.megabytes) << ' '
         << (c.steps ? std::to_string(*c.steps) : "-") << '\n';
  file.close();
  if (!file) stop("cannot write " + path.string());
}

// --- what is printed ---------------------------------------------------------------------------------------------

/// "12.3 (+15 %)": the value, and the change since the baseline if it is one; counts it as more or less.
std::string compared(const char* form, std::optional<double> now, std::optional<double> before, double change, int& more,
                     int& less) {
  if (!now) return "-";
  std::string text = text_of(form, *now);
  if (!before || *before == 0) return text;
  const double ratio = *now / *before;
  if (ratio <= 1 + change && ratio >= 1 / (1 + change)) return text;
  ++(ratio > 1 ? more : less);
  return text + text_of(" (%+.0f %%)", (ratio - 1) * 100);
}

std::optional<double> as_double(std::optional<long> x) {
  return x ? std::optional<double>(static_cast<double>(*x)) : std::nullopt;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct arguments {
  std::string compiler;
  fs::path source;
  bool update = false;
  bool times = true;
  std::vector<std::string> names;
};

arguments arguments_of(int argc, char** argv) {
  arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--update") {
      a.update = true;
    } else if (argument == "--without-times") {
      a.times = false;
    } else if ((argument == "--compiler" || argument == "--source") && i + 1 < argc) {
      ++i;
      if (argument == "--compiler")
        a.compiler = argv[i];
      else
        a.source = argv[i];
    } else if (argument.starts_with('-')) {
      stop("unknown option " + argument);
    } else {
      a.names.push_back(argument);
    }
  }
  if (a.compiler.empty() || a.source.empty()) stop("--compiler and --source are needed");
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  const arguments given = arguments_of(argc, argv);
  const compiler with = compiler_of(given.compiler);
  const fs::path path = given.source / "bench/compile" / ("baseline-" + with.name + ".txt");
  const auto baseline = read_baseline(path);

  std::string scratch = (fs::temp_directory_path() / "attest-compile-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) stop("cannot make a folder in " + fs::temp_directory_path().string());
  std::vector<unit> units = units_of(given.source, scratch);
  if (!given.names.empty())
    std::erase_if(units, [&](const unit& u) {
      return std::none_of(given.names.begin(), given.names.end(),
                          [&](const std::string& name) { return u.name.find(name) != std::string::npos; });
    });
  const fs::path string_source = fs::path(scratch) / "string.cpp";
  std::ofstream(string_source) << "#include <string>\n";

  // Rounds over all units, so that a slow minute of the machine is everybody's; <string> every few units.
  std::vector<double> string_times;
  std::map<std::string, std::vector<double>> times;
  std::map<std::string, cost> now;
  std::vector<std::string> broken;
  for (int round = 0; round < (given.times ? rounds : 1); ++round) {
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (isatty(STDERR_FILENO))
        std::fprintf(stderr, "\r\x1b[Kround %d: %zu of %zu", round + 1, i + 1, units.size());
      if (i % 8 == 0) string_times.push_back(run(compile(with, given.source, string_source)).user_seconds);
      const run_cost one = run(compile(with, given.source, units[i].source));
      if (one.success) {
        times[units[i].name].push_back(one.user_seconds);
        now[units[i].name].megabytes = std::max(now[units[i].name].megabytes, one.megabytes);
      } else if (round == 0) {
        broken.push_back(units[i].name);
      }
    }
  }
  const double string_time = string_times.empty() ? 1 : median(string_times);
  int noisy = 0;
  for (auto& [name, c] : now) {
    const auto& all = times[name];
    c.spread = (*std::max_element(all.begin(), all.end()) - *std::min_element(all.begin(), all.end())) / median(all);
    if (!given.times) continue;
    noisy += c.spread > time_change ? 1 : 0;
    if (c.spread <= time_change) c.time = median(all) / string_time;
  }
  for (const unit& u : units) {
    if (!u.is_proof || !now.contains(u.name)) continue;
    if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\x1b[Ksteps: %s", u.name.c_str());
    const auto before = baseline.find(u.name);
    now[u.name].steps = steps_of(with, given.source, u, median(times[u.name]), before == baseline.end() ? std::nullopt : before->second.steps);
  }
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\x1b[K");
  fs::remove_all(scratch);

  std::printf("%s %s; in brackets the change since %s\n", with.command.c_str(), with.version.c_str(),
              baseline.empty() ? "(there is no baseline)" : path.c_str());
  std::printf("%-44s %18s %18s %20s\n", "", "time / <string>'s", "peak MB", "constexpr steps");
  int more = 0;
  int less = 0;
  for (const unit& u : units) {
    const auto at = now.find(u.name);
    if (at == now.end()) continue;
    const auto known = baseline.find(u.name);
    const cost before = known == baseline.end() ? cost{} : known->second;
    const cost& c = at->second;
    std::printf("%-44s %18s %18s %20s%s\n", u.name.c_str(),
                compared("%.2f", c.time, before.time, time_change, more, less).c_str(),
                compared("%.0f", c.megabytes, before.megabytes, memory_change, more, less).c_str(),
                compared("%.0f", as_double(c.steps), as_double(before.steps), steps_change, more, less).c_str(),
                known == baseline.end() && !baseline.empty() ? "  new" : "");
  }
  for (const auto& [name, c] : baseline)
    if (given.names.empty() && !now.contains(name)) std::printf("%-44s gone\n", name.c_str());
  for (const std::string& name : broken) std::printf("%-44s does not compile\n", name.c_str());
  std::printf("%d figures are larger than in the baseline and %d smaller (time by 10 %%, memory and steps by 5 %% or more)\n",
              more, less);
  if (noisy > 0)
    std::printf("Too noisy to conclude: the times of %d units spread over more than 10 %% and are left out.\n", noisy);
  if (given.update) {
    auto all = given.names.empty() ? std::map<std::string, cost>() : baseline;
    for (const auto& [name, c] : now) all[name] = c;
    write_baseline(path, with, all);
    std::printf("Written: %s\n", path.c_str());
  }
  return broken.empty() ? 0 : 1;
}
