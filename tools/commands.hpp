#pragma once

#include <CLI/CLI.hpp>

#include <functional>

// One function a command: it adds the command with its options to the program, and sets what is to run.
namespace attest::tools {

/// Exit statuses.
inline constexpr int done = 0;
inline constexpr int check_failed = 1;
inline constexpr int bad_input = 2;
inline constexpr int undecided = 3;

/// What was asked for; returns the exit status.
using action = std::function<int()>;

void add_reference_command(CLI::App& program, action& chosen);
void add_check_command(CLI::App& program, action& chosen);
void add_trace_command(CLI::App& program, action& chosen);
void add_prove_command(CLI::App& program, action& chosen);
void add_random_command(CLI::App& program, action& chosen);
void add_convert_command(CLI::App& program, action& chosen);
void add_merge_command(CLI::App& program, action& chosen);

}  // namespace attest::tools
