#include <attest/reference/problem.hpp>

#include <attest/problem/shape_text.hpp>

#include <array>

namespace attest {

namespace {

std::string shape(std::size_t rows, std::size_t columns) { return shape_text(std::array{rows, columns}); }
std::string shape(const exact_matrix& m) { return shape(rows(m), columns(m)); }

void require_elements(std::string_view array, const exact_matrix& m) {
  if (rows(m) == 0 || columns(m) == 0)
    throw problem_error(array, "shape " + shape(m) + " has no elements: give at least one row and one column");
}

void require(bool fits, std::string_view array, const exact_matrix& m, const std::string& other, const exact_matrix& with,
             const std::string& expected) {
  if (!fits)
    throw problem_error(array, "shape " + shape(m) + " does not fit " + other + " of shape " + shape(with) + ": expected " +
                                   expected);
}

std::string extent(std::size_t n) { return std::to_string(n); }

extents checked(const projected_inputs& in) {
  const std::string_view contributor = in.y ? "Y" : "X";
  const exact_matrix& y = in.y ? *in.y : in.x;
  require_elements("X", in.x);
  require_elements(contributor, y);
  require_elements("WQ", in.wq);
  require_elements("WK", in.wk);
  require_elements("WV", in.wv);
  const std::string other(contributor);
  const std::string row_each = ", one row for each column of ";
  require(rows(in.wq) == columns(in.x), "WQ", in.wq, "X", in.x, '[' + extent(columns(in.x)) + ", d_k]" + row_each + "X");
  require(rows(in.wk) == columns(y), "WK", in.wk, other, y, '[' + extent(columns(y)) + ", d_k]" + row_each + other);
  require(columns(in.wk) == columns(in.wq), "WK", in.wk, "WQ", in.wq,
          shape(columns(y), columns(in.wq)) + ", as many columns as WQ");
  require(rows(in.wv) == columns(y), "WV", in.wv, other, y, '[' + extent(columns(y)) + ", d_v]" + row_each + other);
  return {rows(in.x), rows(y), columns(in.wq), columns(in.wv)};
}

extents checked(const head_inputs& in) {
  require_elements("Q", in.q);
  require_elements("K", in.k);
  require_elements("V", in.v);
  require(columns(in.k) == columns(in.q), "K", in.k, "Q", in.q, "[Tk, " + extent(columns(in.q)) + "], as many columns as Q");
  require(rows(in.v) == rows(in.k), "V", in.v, "K", in.k, '[' + extent(rows(in.k)) + ", d_v], as many rows as K");
  return {rows(in.q), rows(in.k), columns(in.q), columns(in.v)};
}

bool inputs_are_dyadic(const projected_inputs& in) {
  return is_dyadic(in.x) && (!in.y || is_dyadic(*in.y)) && is_dyadic(in.wq) && is_dyadic(in.wk) && is_dyadic(in.wv);
}
bool inputs_are_dyadic(const head_inputs& in) { return is_dyadic(in.q) && is_dyadic(in.k) && is_dyadic(in.v); }

}  // namespace

extents checked_extents(const problem& p) {
  const extents e = std::visit([](const auto& in) { return checked(in); }, p.inputs);
  if (!p.mask) return e;
  if (p.mask->rows() != e.queries || p.mask->columns() != e.keys)
    throw problem_error("mask", "shape " + shape(p.mask->rows(), p.mask->columns()) + " does not fit " +
                                    std::to_string(e.queries) + " queries and " + std::to_string(e.keys) +
                                    " keys: expected " + shape(e.queries, e.keys));
  for (std::size_t i = 0; i < e.queries; ++i) {
    bool sees_a_key = false;
    for (std::size_t j = 0; j < e.keys; ++j) sees_a_key = sees_a_key || (*p.mask)(i, j);
    if (!sees_a_key)
      throw problem_error("mask", "row " + std::to_string(i) +
                                      " sees no key, so its softmax is not defined: make at least one of its elements true");
  }
  return e;
}

bool is_dyadic(const problem& p) {
  return std::visit([](const auto& in) { return inputs_are_dyadic(in); }, p.inputs) && (!p.scale || is_dyadic(*p.scale));
}

}  // namespace attest
