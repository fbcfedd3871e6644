#include "measure.hpp"

#include "machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace bench {

double quantile(std::vector<double> x, double share) {
  std::sort(x.begin(), x.end());
  const double place = share * static_cast<double>(x.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, x.size() - 1);
  return x[below] + (place - std::floor(place)) * (x[above] - x[below]);
}

json measure(const std::string& group, methods& all, const effort& how, stopwatch clock) {
  std::printf("measuring  %s\n", group.c_str());
  std::fflush(stdout);
  const auto now = [&] { return clock == stopwatch::wall ? wall_seconds() : processor_seconds(); };
  struct timed {
    const method* what;
    json* entry;
    int runs = 1;
    std::vector<double> seconds = {};
  };
  json result;
  result["name"] = group;
  result["when"] = static_cast<std::int64_t>(std::time(nullptr));
  result["clock"] = clock == stopwatch::wall ? "wall" : "processor time";
  result["load"] = load_average();
  result["methods"] = json::array();
  for (std::size_t i = 0; i < all.size(); ++i) result["methods"].push_back(json::object());

  std::vector<timed> right;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const method& m = all[i];
    json& entry = result["methods"][i];
    entry["name"] = m.name;
    if (!m.run) {
      entry["missing"] = m.missing;
      continue;
    }
    try {
      m.run();  // warms up, too
    } catch (const std::exception& e) {
      entry["wrong"] = e.what();
      continue;
    }
    if (m.of != nullptr) {
      const accuracy a = accuracy_of(*m.of, m.output, m.certified);
      entry["largest_ulp_error"] = a.largest_ulp_error;
      entry["correctly_rounded"] = a.correctly_rounded;
      if (!a.wrong.empty()) {
        entry["wrong"] = a.wrong;
        continue;
      }
      spoil(*m.of, m.output, m.certified);
      if (accuracy_of(*m.of, m.output, m.certified).wrong.empty()) {
        entry["wrong"] = "the check does not see a wrong answer";
        continue;
      }
    }
    timed t{&m, &entry};
    const double start = now();
    m.run();
    const double once = std::max(now() - start, 1e-8);
    t.runs = static_cast<int>(std::clamp(std::ceil(how.shortest / once), 1.0, 1e6));
    right.push_back(std::move(t));
  }

  std::vector<std::string> beside = running_processes();
  for (int repeat = 0; repeat < how.repeats; ++repeat) {
    for (std::size_t i = 0; i < right.size(); ++i) {
      // Another first one each time: nobody always has the cache as the same neighbour leaves it.
      timed& t = right[(i + static_cast<std::size_t>(repeat)) % right.size()];
      const double start = now();
      for (int run = 0; run < t.runs; ++run) t.what->run();
      t.seconds.push_back((now() - start) / t.runs);
    }
    for (std::string& name : running_processes()) beside.push_back(std::move(name));
  }
  std::sort(beside.begin(), beside.end());
  beside.erase(std::unique(beside.begin(), beside.end()), beside.end());
  result["running_beside"] = beside;

  for (const timed& t : right) {
    const double median = quantile(t.seconds, 0.5);
    (*t.entry)["median"] = median;
    (*t.entry)["spread"] = (quantile(t.seconds, 0.75) - quantile(t.seconds, 0.25)) / median;
    (*t.entry)["seconds"] = t.seconds;
  }
  return result;
}

}  // namespace bench
