#pragma once

#include <attest/reference/problem.hpp>
#include <attest/symbolic/surd.hpp>

namespace attest {

/// One head up to its scaled scores, exactly, in the number type T: what every reading of it starts from.
template <exact_number T>
struct exact_head {
  matrix<T> queries;       // [Tq, d_k]
  matrix<T> keys;          // [Tk, d_k]
  matrix<T> values;        // [Tk, d_v]
  matrix<T> dots;          // [Tq, Tk]
  matrix<surd<T>> scores;  // [Tq, Tk], the dots times the scale
  matrix<bool> visible;    // [Tq, Tk]
};

/// T is unbounded_dyadic, which takes problems that are dyadic throughout (is_dyadic(p); others are
/// error::quotient_is_not_dyadic()), or unbounded_rational, which takes all. Inputs that do not fit are problem_error.
template <exact_number T>
exact_head<T> exact_head_of(const problem& p);

extern template exact_head<unbounded_dyadic> exact_head_of(const problem& p);
extern template exact_head<unbounded_rational> exact_head_of(const problem& p);

}  // namespace attest
