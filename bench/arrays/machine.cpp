#include "machine.hpp"

#include "method.hpp"

#include <boost/version.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<gnu/libc-version.h>)
#include <gnu/libc-version.h>
#endif

extern "C" {
extern char** environ;
}

namespace bench {

std::string version_of_openblas();
std::string version_of_eigen();
std::string version_of_onednn();
std::string version_of_mpfr();
std::string version_of_arb();
void one_openblas_thread();
void one_arb_thread();

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown", family, model;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("model name")) name = line.substr(colon + 2);
    if (line.starts_with("cpu family")) family = line.substr(colon + 2);
    if (line.starts_with("model\t")) model = line.substr(colon + 2);
  }
  return family.empty() ? name : name + " (family " + family + ", model " + model + ")";
}

std::string compiler_name() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

std::vector<std::string> library_versions() {
  std::vector<std::string> all;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) all.push_back(text);
  };
#ifdef _GLIBCXX_RELEASE
  add("libstdc++ " + std::to_string(_GLIBCXX_RELEASE));
#endif
#ifdef __GLIBC__
  add(std::string("glibc ") + gnu_get_libc_version());
#endif
  add("Highway " ATTEST_BENCH_HIGHWAY);
  add("Boost " + std::to_string(BOOST_VERSION / 100000) + '.' + std::to_string(BOOST_VERSION / 100 % 1000));
  add(version_of_openblas());
  add(version_of_eigen());
  add(version_of_onednn());
  add(version_of_mpfr());
  add(version_of_arb());
  return all;
}

void one_thread_for_peers() {
  one_openblas_thread();
  one_arb_thread();
}

double load_average() {
  double average[1] = {0};
  return getloadavg(average, 1) == 1 ? average[0] : 0;
}

std::vector<std::string> running_processes() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == std::to_string(getpid())) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) continue;
    // pid (name) state: the name may hold anything.
    const std::size_t open = text.find('('), close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close + 2 >= text.size()) continue;
    // The kernel's own threads have no command line.
    if (std::string command; !std::getline(std::ifstream(entry.path() / "cmdline"), command) || command.empty()) continue;
    if (text[close + 2] == 'R') names.push_back(text.substr(open + 1, close - open - 1));
  }
  return names;
}

std::vector<std::string> with_clean_environment(char** argv) {
  constexpr const char* mark = "ATTEST_BENCH_REMOVED";
  std::vector<std::string> names;
  if (const char* const removed = std::getenv(mark)) {
    std::istringstream text(removed);
    for (std::string name; text >> name;) names.push_back(name);
    return names;
  }
  std::string joined;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (text.starts_with("OPENBLAS_") || text.starts_with("GOTO_") || text.starts_with("OMP_"))
      names.push_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) {
    unsetenv(name.c_str());
    joined += name + ' ';
  }
  setenv(mark, joined.c_str(), 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", argv);
  return names;  // without /proc: as it is, but named
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

/// Runs it in a child process and returns what the operating system says of that; nothing when it failed.
template <class F>
bool in_child(F work, rusage& used) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  return wait4(child, &status, 0, &used) == child && status == 0;
}

}  // namespace

double memory_of(void (*work)(std::size_t), std::size_t argument) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  rusage used{};
  const auto peak = [](const char* name) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(name)) return std::strtod(line.c_str() + line.find(':') + 1, nullptr) * 1024;
    return -1.0;
  };
  const bool done = in_child(
      [&] {
        const double before = peak("VmRSS");
        work(argument);
        const double grown = before < 0 ? -1 : peak("VmHWM") - before;
        if (write(ends[1], &grown, sizeof grown) != static_cast<ssize_t>(sizeof grown)) std::_Exit(1);
      },
      used);
  double result = -1;
  if (!done || read(ends[0], &result, sizeof result) != static_cast<ssize_t>(sizeof result)) result = -1;
  close(ends[0]);
  close(ends[1]);
  return result;
}

double seconds_of_command(const std::string& command) {
  rusage used{};
  const bool done = in_child(
      [&] {
        const std::string quiet = "exec " + command + " >/dev/null 2>&1";
        execl("/bin/sh", "sh", "-c", quiet.c_str(), static_cast<char*>(nullptr));
        std::_Exit(127);
      },
      used);
  if (!done) return -1;
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace bench
