#include "reference/instruction_sets.hpp"

#include "problem/vector_targets.hpp"

#include <hwy/highway.h>

#include <stdexcept>

namespace attest::instruction_sets {

std::vector<std::string> available() {
  std::vector<std::string> names;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void use(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  auto chosen = name.empty() ? hwy::SupportedTargets() : 0;
  if (!name.empty()) {
    for (const auto target : hwy::SupportedAndGeneratedTargets())
      if (name == hwy::TargetName(target)) chosen = target;
    if (chosen == 0) throw std::invalid_argument(name + " is not available here");
    hwy::SetSupportedTargetsForTest(chosen);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace attest::instruction_sets
