#include <attest/io/files.hpp>

#include <attest/io/input_error.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attest::io {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw input_error(name + ": " + what);
}

std::string reason(int number) { return std::strerror(number); }

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  int get() const { return fd_; }
  // The last error of a network file system may come only here.
  int close() {
    const int result = ::close(fd_);
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

// 0, or the error number.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

class signals_held_back {
 public:
  signals_held_back() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  signals_held_back(const signals_held_back&) = delete;
  signals_held_back& operator=(const signals_held_back&) = delete;
  ~signals_held_back() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

std::string behind_links(const std::string& path) {
  constexpr int most_links = 40;
  fs::path target(path);
  std::error_code ignored;
  for (int i = 0; i < most_links && fs::is_symlink(target, ignored); ++i) {
    const fs::path next = fs::read_symlink(target, ignored);
    if (next.empty()) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

std::string directory_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string read_file(const std::string& path) {
  const std::string name = input_name(path);
  if (path.empty()) throw input_error("the name of a file is empty: give one");
  const descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(name, "cannot be opened: " + reason(errno));
  std::string bytes;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      fail(name, errno == EISDIR ? "it is a directory: name a file" : "cannot be read: " + reason(errno));
    if (count == 0) return bytes;
    bytes.append(buffer, 0, static_cast<std::size_t>(count));
    if (bytes.size() > maximum_file_size)
      fail(name, "it is larger than " + std::to_string(maximum_file_size >> 20) + " MiB: split it");
  }
}

// Removes the temporary file unless it has been renamed. Without a path there is none, as of a device.
struct output_file::temporary_file {
  std::string path;
  temporary_file() = default;
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    if (!path.empty()) ::unlink(path.c_str());
  }
};

output_file::output_file(const std::string& path) : path_(path), target_(behind_links(path)) {
  if (path.empty()) fail("output", "its name is empty: give a file name, or - for standard output");
  struct stat status {};
  // The link /dev/stdout leads to the name of a pipe, which no path leads to.
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    target_ = path;
  if (::stat(target_.c_str(), &status) == 0) {
    exists_ = true;
    if (S_ISDIR(status.st_mode)) fail(path_, "it is a directory: name a file");
    replace_ = S_ISREG(status.st_mode);
    mode_ = status.st_mode & 07777u;
    if (::access(target_.c_str(), W_OK) != 0) fail(path_, "cannot be written: " + reason(errno));
  } else if (errno != ENOENT) {
    fail(path_, "cannot be written: " + reason(errno));
  }
  if (!replace_) return;
  const std::string directory = directory_of(target_);
  if (::stat(directory.c_str(), &status) != 0)
    fail(path_, "there is no directory " + directory + ": create it, or name another");
  if (!S_ISDIR(status.st_mode)) fail(path_, directory + " is no directory: name another");
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    fail(path_, "no file can be created in the directory " + directory + ": " + reason(errno));
}

void output_file::write(std::string_view bytes) const {
  std::optional<signals_held_back> held_back;
  if (replace_) held_back.emplace();
  temporary_file filled;
  fill(bytes, filled);
  rename(filled);
}

void output_file::write_with(const output_file& other, std::string_view bytes,
                             std::string_view bytes_of_other) const {
  std::optional<signals_held_back> held_back;
  if (replace_ && other.replace_) held_back.emplace();
  temporary_file filled;
  temporary_file filled_other;
  fill(bytes, filled);
  other.fill(bytes_of_other, filled_other);
  rename(filled);
  other.rename(filled_other);
}

void output_file::fill(std::string_view bytes, temporary_file& filled) const {
  if (!replace_) {
    descriptor file(::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (file.get() < 0) fail(path_, "cannot be opened: " + reason(errno));
    if (const int number = write_all(file.get(), bytes); number != 0)
      fail(path_, "cannot be written: " + reason(number));
    return;
  }

  const std::string directory = directory_of(target_);
  const std::string stem = directory + "/." + fs::path(target_).filename().string().substr(0, 200) + '.' +
                           std::to_string(::getpid()) + '.';
  int fd = -1;
  for (int attempt = 0; fd < 0; ++attempt) {
    const std::string candidate = stem + std::to_string(attempt) + ".tmp";
    fd = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
      filled.path = candidate;
    else if (errno != EEXIST || attempt == 1000)
      fail(path_, "no file can be created in the directory " + directory + ": " + reason(errno));
  }
  descriptor file(fd);
  const auto check = [&](bool succeeded) {
    if (!succeeded) fail(path_, "cannot be written: " + reason(errno) + "; what was there is unchanged");
  };
  if (exists_) check(::fchmod(file.get(), static_cast<mode_t>(mode_)) == 0);
  const int number = write_all(file.get(), bytes);
  errno = number;
  check(number == 0);
  check(::fsync(file.get()) == 0 || errno == EINVAL || errno == ENOTSUP);
  check(file.close() == 0);
}

void output_file::rename(temporary_file& filled) const {
  if (filled.path.empty()) return;
  if (::rename(filled.path.c_str(), target_.c_str()) != 0)
    fail(path_, "cannot be written: " + reason(errno) + "; what was there is unchanged");
  filled.path.clear();

  // So that the new name survives a power cut as well; the file is whole without it.
  const descriptor parent(::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() >= 0) ::fsync(parent.get());
}

void refuse_to_replace(const std::string& output, const std::string& input) {
  struct stat to {};
  struct stat from {};
  if (::stat(output.c_str(), &to) != 0 || !S_ISREG(to.st_mode) || ::stat(input.c_str(), &from) != 0) return;
  if (to.st_dev == from.st_dev && to.st_ino == from.st_ino)
    fail(output, "it is read as well, and what is in it would be lost: name another file to write");
}

void write_standard_output(std::string_view bytes) {
  if (const int number = write_all(STDOUT_FILENO, bytes); number != 0)
    fail("standard output", "cannot be written: " + reason(number));
}

}  // namespace attest::io
