#include "byte_source.hpp"

#include <attest/io/input_error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attest::io {

namespace {

class file_source final : public byte_source {
 public:
  explicit file_source(const std::string& path)
      : name_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) fail("cannot be opened: " + std::string(std::strerror(errno)));
    struct stat status {};
    const bool known = ::fstat(fd_, &status) == 0;
    if (!known || !S_ISREG(status.st_mode)) {
      ::close(fd_);
      fail(known && S_ISDIR(status.st_mode)
               ? "it is a directory: name a file"
               : "it is no regular file, and arrays are read at their places: copy it to a file");
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  file_source(const file_source&) = delete;
  file_source& operator=(const file_source&) = delete;
  ~file_source() override { ::close(fd_); }

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, void* to, std::size_t count) const override {
    auto* place = static_cast<char*>(to);
    while (count > 0) {
      constexpr std::size_t most = std::size_t{1} << 30;  // what one call may read
      const ssize_t got = ::pread(fd_, place, std::min(count, most), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot be read: " + std::string(std::strerror(errno)));
      if (got == 0)
        fail("it ends at byte " + std::to_string(offset) + ", before its arrays do: it is truncated");
      place += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw input_error(name_ + ": " + what); }

  std::string name_;
  int fd_;
  std::uint64_t size_ = 0;
};

class string_source final : public byte_source {
 public:
  string_source(std::string bytes, const std::string& name) : bytes_(std::move(bytes)), name_(name) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, void* to, std::size_t count) const override {
    if (offset > bytes_.size() || count > bytes_.size() - offset)
      throw input_error(name_ + ": it ends at byte " + std::to_string(bytes_.size()) +
                        ", before its arrays do: it is truncated");
    if (count > 0) std::memcpy(to, bytes_.data() + offset, count);
  }

 private:
  std::string bytes_;
  std::string name_;
};

}  // namespace

std::shared_ptr<const byte_source> open_source(const std::string& path) {
  return std::make_shared<file_source>(path);
}

std::shared_ptr<const byte_source> memory_source(std::string bytes, const std::string& name) {
  return std::make_shared<string_source>(std::move(bytes), name);
}

std::uint64_t available_memory() {
  std::uint64_t result = std::numeric_limits<std::uint64_t>::max();
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("MemAvailable:")) result = std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
  if (result == std::numeric_limits<std::uint64_t>::max()) {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long size = ::sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) result = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    result = std::min(result, static_cast<std::uint64_t>(limit.rlim_cur));
  return result;
}

}  // namespace attest::io
