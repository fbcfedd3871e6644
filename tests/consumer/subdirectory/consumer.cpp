#include <attest/exact.hpp>

// The same code at run time, with integers that grow.
int main() {
  using attest::unbounded_integer;
  const attest::matrix<unbounded_integer, 2, 2> a({{1, 2}, {3, 4}});
  const attest::matrix<unbounded_integer, 2, 2> product({{7, 10}, {15, 22}});
  return a * a == product ? 0 : 1;
}
