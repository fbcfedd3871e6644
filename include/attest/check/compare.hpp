#pragma once

#include <attest/problem/shape_text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// A candidate's array against a reference, for tests: what differs, where, by how much, and whether that is
// within a tolerance. Ulps are those of binary64: check/arrays.hpp counts those of the candidate's format,
// for kernels in float or narrower. (check/certified.hpp: arrays of exact numbers, and those that attest
// computes.)
//
//     const std::vector<std::size_t> shape = {3, 2};
//     const attest::comparison c = attest::compare({shape, reference}, {shape, mine}, {.ulp = 2});
//     INFO(attest::describe(c));
//     CHECK(c.passed());
namespace attest {

/// An array and its shape, elements row by row (the last index runs fastest).
struct array_view {
  std::span<const std::size_t> shape;
  std::span<const double> values;
};

/// How many elements an array of the shape has. std::invalid_argument: more than a size_t holds.
std::size_t elements_of(std::span<const std::size_t> shape);

/// What every element of an array must keep to. Where both are given it must keep to both.
struct tolerance {
  /// |candidate - reference| <= absolute, decided exactly; not negative, finite.
  std::optional<double> absolute = {};
  /// ulp_distance(candidate, reference) <= ulp.
  std::optional<std::uint64_t> ulp = {};
};

enum class judgement {
  passed,      // everything is within the tolerance
  failed,      // something is not; or a shape, NaN or infinity is not the reference's: no tolerance covers it
  equal,       // no tolerance was given, and all elements are equal
  not_judged,  // no tolerance was given, and elements differ: that is no pass
};

/// "passed", "failed", "equal", "not judged".
const char* name_of(judgement v);

/// The largest value of an error, and the first element that has it, as an index into the flat array.
template <class T>
struct largest {
  T value{};
  std::size_t at = 0;
};

/// How often something happens, and the first element to which it does.
struct occurrences {
  std::size_t count = 0;
  std::size_t first = 0;
};

/// Candidates that have nothing to do with the reference and are within the tolerance all the same (one in
/// ulps alone has none).
enum class blind_spot {
  none,
  zeros,     // an array of zeros: the tolerance is no smaller than the magnitude of any element
  constant,  // an array of equal elements, such as half the sum of the least and the greatest
};

/// The shares of elements for which quantiles of the ulp error are told.
inline constexpr std::array<double, 4> quantile_levels = {0.5, 0.9, 0.99, 0.999};

/// What compare() finds. Errors are those of elements that are finite in both arrays, and missing where there
/// is none.
struct comparison {
  judgement outcome = judgement::failed;
  std::vector<std::size_t> shape;
  std::vector<std::size_t> candidate_shape;  // where it is another one, nothing below is filled in
  std::size_t elements = 0;

  occurrences different;            // no equal numbers: NaN equals NaN and +0 equals -0 here
  occurrences nan_mismatches;       // NaN in one array alone
  occurrences infinity_mismatches;  // infinity in one array alone, or of the other sign
  occurrences zero_signs;           // zero in both, of different signs: told, never a failure
  occurrences past_absolute;        // beyond the tolerances that were given
  occurrences past_ulp;

  std::optional<largest<double>> absolute_error;  // correctly rounded, for show: the verdict takes it exactly
  std::optional<largest<std::uint64_t>> ulp_distance;
  std::optional<largest<double>> ulp_error;  // ulp_error() of check/ulp.hpp
  /// How many elements are the correctly rounded number (NaN for NaN among them), and the ulp errors that the
  /// shares quantile_levels of the finite elements do not exceed (nearest rank).
  std::size_t correctly_rounded = 0;
  std::array<double, 4> ulp_error_quantiles{};
  bool against_exact = false;  // whether ulp_error is against exact numbers, or the reference's own values

  blind_spot blind = blind_spot::none;

  bool same_shape() const { return shape == candidate_shape; }
  bool passed() const { return outcome == judgement::passed || outcome == judgement::equal; }
};

/// Compares in binary64. `offsets`, where the reference's exact numbers are known: (exact - value) /
/// ulp(value) for each element, as for ulp_error(). Arrays without elements, sizes that do not fit, and a
/// tolerance that is NaN, infinite or negative are std::invalid_argument.
comparison compare(const array_view& reference, const array_view& candidate, const tolerance& allowed,
                   std::span<const double> offsets = {});

/// The comparison on one line, for the message of a test.
std::string describe(const comparison& c);

}  // namespace attest
