#pragma once

#include <attest/reference/certified_attention.hpp>

#include <cstddef>

namespace attest::certified {

/// What one thread counts, and its undecided elements.
class tally {
 public:
  void settled(reference_tier tier, certificate how, std::size_t elements = 1) {
    all_.settled[static_cast<std::size_t>(tier)] += elements;
    if (how == certificate::exact) all_.exact += elements;
  }
  void undecided(undecided_element element);
  void needed(unsigned bits) { all_.most_bits = all_.most_bits < bits ? bits : all_.most_bits; }

  void add(const tally& other);
  /// Of its undecided elements the first hundred, in the order of arrays and indices.
  certification result() &&;

 private:
  certification all_;
};

}  // namespace attest::certified
