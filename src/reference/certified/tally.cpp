#include "reference/certified/tally.hpp"

#include <algorithm>
#include <utility>

namespace attest::certified {

namespace {

constexpr std::size_t listed = 100;

void keep_first(std::vector<undecided_element>& elements) {
  std::sort(elements.begin(), elements.end(), [](const undecided_element& x, const undecided_element& y) {
    if (x.array != y.array) return x.array < y.array;
    return x.index != y.index ? x.index < y.index : x.low_word < y.low_word;
  });
  if (elements.size() > listed) elements.resize(listed);
}

}  // namespace

void tally::undecided(undecided_element element) {
  ++all_.undecided;
  all_.undecided_elements.push_back(std::move(element));
  if (all_.undecided_elements.size() > 10 * listed) keep_first(all_.undecided_elements);
}

void tally::add(const tally& other) {
  for (std::size_t t = 0; t < reference_tiers; ++t) all_.settled[t] += other.all_.settled[t];
  all_.exact += other.all_.exact;
  all_.undecided += other.all_.undecided;
  needed(other.all_.most_bits);
  all_.undecided_elements.insert(all_.undecided_elements.end(), other.all_.undecided_elements.begin(),
                                 other.all_.undecided_elements.end());
}

certification tally::result() && {
  keep_first(all_.undecided_elements);
  return std::move(all_);
}

}  // namespace attest::certified
