#include "contains.hpp"

#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attest::io;
using attest_testing::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

struct temporary_directory {
  fs::path path;
  temporary_directory() {
    std::string name = (fs::temp_directory_path() / "attest-files-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~temporary_directory() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void fill(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

unsigned mode(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777u;
}

std::string message_of(auto f) {
  try {
    f();
  } catch (const input_error& e) {
    return e.what();
  }
  return "no error";
}

// The exit status of f in a process of its own, or minus the signal that ended it.
int in_child(auto f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a file is written whole, and read back") {
  const temporary_directory dir;
  const std::string bytes("a\0b\n\xff", 5);
  output_file(dir / "out").write(bytes);
  CHECK(content(dir / "out") == bytes);
  CHECK(read_file(dir / "out") == bytes);
  output_file(dir / "out").write("shorter");
  CHECK(content(dir / "out") == "shorter");
  output_file(dir / "empty").write("");
  CHECK(read_file(dir / "empty").empty());
  CHECK(dir.entries() == 2);
}

TEST_CASE("a new file has the permissions of the umask, an old one keeps its own") {
  const temporary_directory dir;
  const mode_t before = ::umask(027);
  output_file(dir / "new").write("x");
  ::umask(before);
  CHECK(mode(dir / "new") == 0640);
  fill(dir / "old", "y");
  ::chmod((dir / "old").c_str(), 0604);
  output_file(dir / "old").write("z");
  CHECK(mode(dir / "old") == 0604);
  CHECK(content(dir / "old") == "z");
}

TEST_CASE("a symbolic link stays, and the file behind it is replaced") {
  const temporary_directory dir;
  fs::create_directory(dir.path / "sub");
  fill(dir / "sub/target", "old");
  fs::create_symlink("sub/target", dir.path / "link");
  fs::create_symlink("link", dir.path / "chain");
  output_file(dir / "chain").write("new");
  CHECK(fs::is_symlink(dir.path / "chain"));
  CHECK(fs::is_symlink(dir.path / "link"));
  CHECK(content(dir / "sub/target") == "new");
  fs::create_symlink("sub/later", dir.path / "dangling");
  output_file(dir / "dangling").write("made");
  CHECK(fs::is_symlink(dir.path / "dangling"));
  CHECK(content(dir / "sub/later") == "made");
}

TEST_CASE("what cannot be read is named") {
  const temporary_directory dir;
  CHECK_THAT(message_of([&] { read_file(dir / "none"); }), ContainsSubstring("none: cannot be opened: No such file"));
  CHECK_THAT(message_of([&] { read_file(dir.path.string()); }), ContainsSubstring("it is a directory: name a file"));
  CHECK_THAT(message_of([&] { read_file("/dev/zero"); }), ContainsSubstring("/dev/zero: it is larger than 256 MiB"));
}

TEST_CASE("what cannot be written is named, before anything is computed") {
  const temporary_directory dir;
  CHECK_THAT(message_of([&] { output_file out(dir.path.string()); }), ContainsSubstring("it is a directory: name a file"));
  CHECK_THAT(message_of([&] { output_file out(dir / "none/out"); }), ContainsSubstring("there is no directory"));
  CHECK_THAT(message_of([&] { output_file out(dir / "none/out"); }), ContainsSubstring("none: create it, or name another"));
  fill(dir / "file", "x");
  CHECK_THAT(message_of([&] { output_file out(dir / "file/out"); }), ContainsSubstring("cannot be written: Not a directory"));
  CHECK_THAT(message_of([&] { output_file out(""); }), ContainsSubstring("its name is empty"));
  CHECK_THAT(message_of([&] { output_file out(dir / std::string(300, 'n').c_str()); }), ContainsSubstring("File name too long"));
}

TEST_CASE("a full disk leaves what was there, and no temporary file") {
  const temporary_directory dir;
  fill(dir / "out", "old");
  // A file-size limit stands in for the disk.
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = message_of([&] { output_file(dir / "out").write(std::string(100000, 'x')); });
    return message.find("cannot be written: File too large; what was there is unchanged") != std::string::npos ? 0 : 1;
  });
  CHECK(status == 0);
  CHECK(content(dir / "out") == "old");
  CHECK(dir.entries() == 1);
  CHECK_THAT(message_of([] { output_file("/dev/full").write("x"); }), ContainsSubstring("/dev/full: cannot be written: No space left"));
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("an interrupt during writing leaves a whole file and no temporary one") {
  const temporary_directory dir;
  fill(dir / "out", "old");
  const std::string bytes(std::size_t{16} << 20, 'n');
  for (int delay : {0, 500, 2000, 5000, 20000}) {
    CAPTURE(delay);
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGINT, SIG_DFL);
      for (;;) output_file(dir / "out").write(bytes);
    }
    ::usleep(static_cast<useconds_t>(10000 + delay));
    ::kill(child, SIGINT);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    const std::string left = content(dir / "out");
    CHECK((left == "old" || left == bytes));
    CHECK(dir.entries() == 1);
  }
}

TEST_CASE("a pipe is written to as it is") {
  const temporary_directory dir;
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    output_file(dir / "pipe").write("through");
    ::_exit(0);
  }
  CHECK(content(dir / "pipe") == "through");
  ::waitpid(child, nullptr, 0);
  CHECK(fs::is_fifo(dir.path / "pipe"));
}

TEST_CASE("a closed pipe as standard output is an error, not a silent end") {
  const int status = in_child([] {
    std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (::pipe(ends) != 0) return 3;
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    return message_of([] { write_standard_output("x"); }) == "standard output: cannot be written: Broken pipe" ? 0 : 1;
  });
  CHECK(status == 0);
}
