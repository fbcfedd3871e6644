// The seeds of the fuzzers: the files in corpus/<target>/accepted are taken, those in corpus/<target>/refused are refused
// with the documented error, and the promises of targets.hpp hold for all of them.
#include "catch.hpp"
#include "targets.hpp"

#include <attest/io/expected_arrays.hpp>
#include <attest/io/input_error.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& each : fs::directory_iterator(folder))
    if (each.is_regular_file()) files.push_back(each.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

const fs::path corpus = fs::path(ATTEST_SOURCE_DIR) / "tests/fuzz/corpus";

}  // namespace

TEST_CASE("every seed is accepted or refused as its folder says") {
  for (const fuzz::target& target : fuzz::targets)
    for (const auto& [folder, wanted] :
         {std::pair("accepted", fuzz::outcome::accepted), std::pair("refused", fuzz::outcome::refused)}) {
      const auto files = files_in(corpus / target.name / folder);
      CHECK(files.size() >= 5);
      for (const fs::path& file : files) {
        INFO(file.string());
        CHECK(target.run(contents(file)) == wanted);
      }
    }
}

TEST_CASE("every prefix of a seed is read or refused, never anything else") {
  for (const fuzz::target& target : fuzz::targets)
    for (const char* folder : {"accepted", "refused"})
      for (const fs::path& file : files_in(corpus / target.name / folder)) {
        const std::string bytes = contents(file);
        if (bytes.size() > 400) continue;
        for (std::size_t length = 0; length <= bytes.size(); ++length) {
          INFO(file.string() << ", " << length << " bytes of it");
          CHECK_NOTHROW(target.run(std::string_view(bytes).substr(0, length)));
        }
      }
}

TEST_CASE("no seed is refused for the same reason as another") {
  std::map<std::string, std::string> reasons;
  for (const fs::path& file : files_in(corpus / "expected/refused")) {
    try {
      attest::io::read_expected(attest::io::read_attention_v1(contents(file), "f"), "f", "give it");
      FAIL(file.string() << " is accepted");
    } catch (const attest::io::input_error& e) {
      INFO(file.string() << " and " << reasons[e.what()] << ": " << e.what());
      CHECK(reasons[e.what()].empty());
      reasons[e.what()] = file.string();
    }
  }
}
