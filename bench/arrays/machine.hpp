#pragma once

#include <string>
#include <vector>

// Where and with what something was measured, and whether the machine was quiet.
namespace bench {

std::string processor_name();
std::string compiler_name();
/// This program's libraries and those of the peers.
std::vector<std::string> library_versions();

/// Processes that wanted a processor during the last minute, on average; 0 where that is not known.
double load_average();
/// Names of other processes that are running right now, from /proc; empty where that is not there.
std::vector<std::string> running_processes();

/// Starts this program again without the variables that would decide how OpenBLAS works (OPENBLAS_*) and with one thread for
/// OpenMP, when that is not yet so. Returns the names of the variables that were there.
std::vector<std::string> with_clean_environment(char** argv);

/// Seconds of processor time of this process, all its threads together; and of the clock on the wall.
double processor_seconds();
double wall_seconds();

/// The most memory, in bytes, that a process needed for `work` beyond what it had; measured in a child process. Negative
/// where that cannot be measured.
double memory_of(void (*work)(std::size_t), std::size_t argument);

/// Seconds of processor time of a command, its output thrown away; negative when it fails.
double seconds_of_command(const std::string& command);

}  // namespace bench
