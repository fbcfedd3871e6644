#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Whole files. Every failure is input_error, one line with the file's name and the system's reason. (POSIX.)
namespace attest::io {

/// What read_file() takes at most, in bytes; a case of a million numbers is a tenth of it.
inline constexpr std::size_t maximum_file_size = std::size_t{256} << 20;

/// The bytes of the file, or of standard input for "-".
std::string read_file(const std::string& path);

/// How messages call a file: its path, or "standard input" for "-".
std::string input_name(const std::string& path);

/// A file to be written. It appears whole or not at all: write() fills a temporary file beside it, flushes
/// that to the disk and renames it over the old one, whose permissions it takes over; a new file gets those
/// of the umask. While that happens the calling thread holds back SIGINT, SIGTERM and SIGHUP, so that they
/// leave no temporary file behind. A symbolic link stays one: the file it names is replaced. A device or a
/// pipe is written to as it is.
class output_file {
 public:
  /// Finds what can be found out before there is anything to write: a directory under that name, a directory
  /// that does not exist, a file that may not be written.
  explicit output_file(const std::string& path);

  void write(std::string_view bytes) const;
  /// This file and another: neither is renamed before both are on the disk.
  void write_with(const output_file& other, std::string_view bytes, std::string_view bytes_of_other) const;

 private:
  struct temporary_file;
  void fill(std::string_view bytes, temporary_file& filled) const;
  void rename(temporary_file& filled) const;

  std::string path_;    // as it was given, for messages
  std::string target_;  // behind symbolic links
  bool replace_ = true;
  bool exists_ = false;
  unsigned mode_ = 0;
};

/// input_error where `output` is the file `input`, which would be lost.
void refuse_to_replace(const std::string& output, const std::string& input);

/// Writes to standard output; a closed pipe is input_error where SIGPIPE is ignored.
void write_standard_output(std::string_view bytes);

}  // namespace attest::io
