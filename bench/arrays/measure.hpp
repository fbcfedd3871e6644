#pragma once

#include "method.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace bench {

using json = nlohmann::ordered_json;

struct effort {
  int repeats;
  double shortest;  // seconds of one repeat, by repeating a short run
};

enum class stopwatch { processor_time, wall };

/// Checks the answer of every method, then times those that are right: repeats of all methods in turn, after one run of each
/// that warms up. What a method is called "peak" or "bandwidth" after is no answer and is not checked.
///
/// Gives name, time of day, load, processes that ran beside it, and for each method name, seconds of each repeat, median,
/// spread (between the quartiles, relative to the median), accuracy, and what was wrong with it or missing.
json measure(const std::string& group, methods& all, const effort& how, stopwatch clock);

/// The quantile of numbers, between those that are next to it in proportion.
double quantile(std::vector<double> numbers, double share);

}  // namespace bench
