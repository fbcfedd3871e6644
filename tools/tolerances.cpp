#include "tolerances.hpp"

#include "arguments.hpp"

#include <attest/io/array_file.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/number.hpp>
#include <attest/problem/one_line.hpp>

#include <algorithm>
#include <utility>

namespace attest::tools {

namespace {

using io::input_error;

// The names and numbers of such texts: of "output=1,lse=4" both, of "4" one without a name.
std::vector<std::pair<std::string, std::string>> parts_of(const char* option, const char* example,
                                                          const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> parts;
  for (const std::string& text : texts) {
    if (text.find('=') == std::string::npos) {
      parts.emplace_back(std::string(), text);
      continue;
    }
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t comma = std::min(text.find(',', from), text.size());
      parts.push_back(assignment(text.substr(from, comma - from), option, example));
      from = comma + 1;
    }
  }
  return parts;
}

exact_scalar number_of(const std::string& option, const std::string& text, const char* example) {
  try {
    exact_scalar x = io::read_exact(text);
    if (sign(exact_as<unbounded_rational>(x)) >= 0) return x;
  } catch (const io::number_error& e) {
    throw input_error(option + ": " + e.what());
  }
  throw input_error(option + ": " + text + " is no tolerance: give a number that is not negative, such as " +
                    example);
}

void set(std::optional<std::string>& what, const std::string& option, const std::string& name,
         const std::string& number) {
  if (what)
    throw input_error(option + ": " + (name.empty() ? "all arrays have" : "array " + name + " has") +
                      " two tolerances, " + *what + " and " + number + ": give one");
  what = number;
}

}  // namespace

tolerances::tolerances(const std::vector<std::string>& absolute, const std::vector<std::string>& ulp,
                       const std::vector<std::string>& weighted_v) {
  const auto place = [&](const std::string& name) -> given_tolerance& {
    return name.empty() ? unnamed_ : named_[name];
  };
  for (const auto& [name, number] : parts_of("--abs", "lse=1e-5", absolute)) {
    given_tolerance& t = place(name);
    t.limits.absolute = number_of("--abs", number, "1e-12");
    set(t.numbers.absolute, "--abs", name, number);
    t.said.absolute = "--abs " + number;
  }
  for (const auto& [name, number] : parts_of("--ulp", "lse=4", ulp)) {
    given_tolerance& t = place(name);
    std::uint64_t value = 0;
    if (!is_number(number, value))
      throw input_error("--ulp: " + number + " is no tolerance: give a whole number of ulps, such as 4");
    t.limits.ulp = value;
    set(t.numbers.ulp, "--ulp", name, std::to_string(value));
    t.said.ulp = "--ulp " + std::to_string(value);
  }
  for (const auto& [given, number] : parts_of("--weighted-v", "output=4", weighted_v)) {
    const std::string name = given.empty() ? "output" : given;
    given_tolerance& t = place(name);
    set(t.numbers.weighted_v, "--weighted-v", name, number);
    t.said.weighted_v = "--weighted-v " + number;
    weighted_tolerance w{unbounded_dyadic(0), nullptr};
    const std::size_t colon = number.find(':');
    w.units = number_of("--weighted-v", number.substr(0, colon), "4");
    if (colon != std::string::npos) {
      const std::string type = number.substr(colon + 1);
      const auto named = io::dtype_named(type);
      w.of = named ? format_of(*named) : nullptr;
      if (w.of == nullptr)
        throw input_error("--weighted-v: " + type +
                          " is no float, in whose units to count: " + io::float_dtype_names);
    }
    t.limits.weighted_v = w;
  }
}

const given_tolerance& tolerances::of(const std::string& array) const {
  const auto found = named_.find(array);
  return found == named_.end() ? unnamed_ : found->second;
}

std::string tolerances::text() const {
  std::string text = unnamed_.said.any() ? " within " + unnamed_.said.all() : std::string();
  for (const auto& [name, t] : named_) text += ", " + one_line(name) + " within " + t.said.all();
  return text;
}

}  // namespace attest::tools
