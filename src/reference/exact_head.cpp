#include <attest/reference/exact_head.hpp>

#include <attest/exact/projections.hpp>
#include <attest/exact/scores.hpp>

namespace attest {

namespace {

template <exact_number T>
head<matrix<T>, matrix<T>, matrix<T>> head_of(const projected_inputs& in) {
  const matrix<T> x = exact_as<T>(in.x);
  return projections(x, in.y ? exact_as<T>(*in.y) : x, exact_as<T>(in.wq), exact_as<T>(in.wk), exact_as<T>(in.wv));
}
template <exact_number T>
head<matrix<T>, matrix<T>, matrix<T>> head_of(const head_inputs& in) {
  return {exact_as<T>(in.q), exact_as<T>(in.k), exact_as<T>(in.v)};
}

}  // namespace

template <exact_number T>
exact_head<T> exact_head_of(const problem& p) {
  const extents e = checked_extents(p);
  auto qkv = std::visit([](const auto& in) { return head_of<T>(in); }, p.inputs);
  exact_head<T> result;
  result.dots = scores(qkv.queries, qkv.keys);
  result.scores = p.scale ? result.dots * surd<T>(exact_as<T>(*p.scale)) : result.dots / root(e.key_width);
  result.queries = std::move(qkv.queries);
  result.keys = std::move(qkv.keys);
  result.values = std::move(qkv.values);
  result.visible = p.mask ? *p.mask : map(result.dots, [](const T&) { return true; });
  return result;
}

template exact_head<unbounded_dyadic> exact_head_of(const problem& p);
template exact_head<unbounded_rational> exact_head_of(const problem& p);

}  // namespace attest
