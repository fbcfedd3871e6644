// Fuzzes the entry where there is no libFuzzer: seeds and words, mutated blindly, in a child process. What the child was
// reading when it crashed, hung, threw or was stopped by a sanitizer is in shared memory, and its parent keeps it.
//
//   fuzz_json [-max_total_time=SECONDS] [-timeout=SECONDS] [-artifact_prefix=PREFIX] [-dict=FILE] CORPUS_FOLDER...
//
// Status 0: nothing found; 1: something found, and kept as PREFIXcrash-... or PREFIXtimeout-...; 2: bad usage.
#include "entry.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t longest_input = 8192;

// What parent and child share.
struct current_input {
  std::atomic<std::uint64_t> runs;
  std::size_t size;
  char bytes[longest_input];
};

struct settings {
  double seconds = 60;
  double timeout = 25;
  std::string prefix = "./";
  std::vector<std::string> seeds;
  std::vector<std::string> words;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void bad_usage(const std::string& message) {
  std::fprintf(stderr, "fuzz: %s\n", message.c_str());
  std::exit(2);
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) bad_usage("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// The words of a dictionary in libFuzzer's form: lines of name="word", the word with the escapes \\, \" and \xAB.
std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words;
  std::ifstream file(path);
  if (!file) bad_usage("cannot read " + path);
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find('"');
    const auto last = line.rfind('"');
    if (line.starts_with('#') || first == last) continue;
    std::string word;
    for (std::size_t i = first + 1; i < last; ++i) {
      if (line[i] != '\\') {
        word += line[i];
      } else if (line[++i] == 'x') {
        word += static_cast<char>(std::stoi(line.substr(i + 1, 2), nullptr, 16));
        i += 2;
      } else {
        word += line[i];
      }
    }
    words.push_back(word);
  }
  return words;
}

settings settings_of(int argc, char** argv) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (key == "-max_total_time") {
      s.seconds = std::atof(value.c_str());
    } else if (key == "-timeout") {
      s.timeout = std::atof(value.c_str());
    } else if (key == "-artifact_prefix") {
      s.prefix = value;
    } else if (key == "-dict") {
      s.words = words_of(value);
    } else if (!argument.starts_with('-')) {
      if (!std::filesystem::is_directory(argument)) bad_usage(argument + " is no folder");
      for (const auto& each : std::filesystem::recursive_directory_iterator(argument))
        if (each.is_regular_file()) s.seeds.push_back(contents(each.path()));
    }
  }
  std::erase_if(s.seeds, [](const std::string& seed) { return seed.size() > longest_input; });
  std::sort(s.seeds.begin(), s.seeds.end());  // folders have no order
  if (s.seeds.empty()) s.seeds.emplace_back();
  return s;
}

class mutator {
 public:
  mutator(const settings& s, std::uint64_t seed) : seeds_(s.seeds), words_(s.words), random_(seed) {}

  std::string next() {
    std::string bytes = seeds_[below(seeds_.size())];
    for (std::size_t steps = 1 + below(4); steps > 0; --steps) mutate(bytes);
    bytes.resize(std::min(bytes.size(), longest_input));
    return bytes;
  }
  /// An accepted input is worth starting from again.
  void add(const std::string& bytes) {
    if (seeds_.size() < 4096) seeds_.push_back(bytes);
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void mutate(std::string& bytes) {
    const std::size_t at = below(bytes.size() + 1);
    const std::size_t length = std::min(1 + below(16), bytes.size() - at);
    switch (below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1: bytes.insert(at, 1, static_cast<char>(below(256))); break;
      case 2: bytes.erase(at, length); break;
      case 3: bytes.insert(below(bytes.size() + 1), bytes.substr(at, length)); break;
      case 4: {  // the end of another seed
        const std::string& other = seeds_[below(seeds_.size())];
        bytes = bytes.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      }
      case 5:
        if (!words_.empty()) bytes.insert(at, words_[below(words_.size())]);
        break;
      default:  // a word instead of a word, or of a number
        if (!words_.empty() && at < bytes.size()) {
          const auto end = bytes.find_first_of(",:[]{} \n", at);
          bytes.replace(at, (end == std::string::npos ? bytes.size() : end) - at, words_[below(words_.size())]);
        }
    }
  }

  std::vector<std::string> seeds_;
  const std::vector<std::string>& words_;
  std::mt19937_64 random_;
};

fuzz::outcome run(const std::string& bytes, current_input& current) {
  std::memcpy(current.bytes, bytes.data(), bytes.size());
  current.size = bytes.size();
  ++current.runs;
  return fuzz::entry(bytes);
}

// The child: until the time is over or something is found.
[[noreturn]] void fuzz_until(double end, const settings& s, current_input& current) {
  try {
    for (const std::string& seed : s.seeds) run(seed, current);
    mutator inputs(s, 20240229);
    while (now() < end) {
      const std::string bytes = inputs.next();
      if (run(bytes, current) == fuzz::outcome::accepted) inputs.add(bytes);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fuzz: uncaught exception: %s\n", e.what());
    std::_Exit(1);
  } catch (...) {
    std::fprintf(stderr, "fuzz: uncaught exception\n");
    std::_Exit(1);
  }
  std::_Exit(0);
}

void keep(const settings& s, const char* what, const current_input& current) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (std::size_t i = 0; i < current.size; ++i)
    hash = (hash ^ static_cast<unsigned char>(current.bytes[i])) * 1099511628211u;
  char name[64];
  std::snprintf(name, sizeof name, "%s-%016llx", what, static_cast<unsigned long long>(hash));
  const std::string path = s.prefix + name;
  std::ofstream file(path, std::ios::binary);
  file.write(current.bytes, static_cast<std::streamsize>(current.size));
  file.close();
  std::fprintf(stderr, "fuzz: %s; the input is kept as %s\n", what, file ? path.c_str() : "nothing: it cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  const settings s = settings_of(argc, argv);
  void* const memory =
      mmap(nullptr, sizeof(current_input), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) bad_usage("no shared memory");
  current_input& current = *new (memory) current_input{};

  const double end = now() + s.seconds;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) bad_usage("cannot start a process");
  if (child == 0) fuzz_until(end, s, current);

  int status = 0;
  std::uint64_t seen = 0;
  double seen_at = now();
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (current.runs != seen) {
      seen = current.runs;
      seen_at = now();
    } else if (now() - seen_at > s.timeout) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      keep(s, "timeout", current);
      return 1;
    }
    usleep(20000);
  }
  if (status != 0) {
    keep(s, "crash", current);
    return 1;
  }
  std::fprintf(stderr, "fuzz: %llu inputs, nothing found\n", static_cast<unsigned long long>(current.runs));
  return 0;
}
