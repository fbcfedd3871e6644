// Binary128: __float128 of the compiler, and Boost's cpp_bin_float_quad.
#include "method.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>

#if ATTEST_BENCH_QUADMATH
#include <quadmath.h>
#endif

namespace bench {

namespace {

template <class T, class Exp, class Sqrt>
void add(methods& all, const problem& p, const std::string& name, Exp exponential, Sqrt root) {
  struct call {
    std::vector<T> q, k, v, row;
    array out;
  };
  const auto wide = [](const array& a) {
    const std::vector<double> x = a.values();
    return std::vector<T>(x.begin(), x.end());
  };
  auto c = std::make_shared<call>(
      call{wide(p.q), wide(p.k), wide(p.v), std::vector<T>(p.keys), array(p.type, attest::layout{p.queries, p.width})});
  all.push_back({name,
                 [c, &p, exponential, root] {
                   const T scale = 1 / root(T(static_cast<double>(p.width)));
                   const std::size_t d = p.width;
                   for (std::size_t i = 0; i < p.queries; ++i) {
                     T largest = 0;
                     for (std::size_t j = 0; j < p.keys; ++j) {
                       T sum = 0;
                       for (std::size_t x = 0; x < d; ++x) sum += c->q[i * d + x] * c->k[j * d + x];
                       c->row[j] = sum * scale;
                       if (j == 0 || c->row[j] > largest) largest = c->row[j];
                     }
                     T total = 0;
                     for (std::size_t j = 0; j < p.keys; ++j) {
                       c->row[j] = exponential(T(c->row[j] - largest));
                       total += c->row[j];
                     }
                     for (std::size_t x = 0; x < d; ++x) {
                       T sum = 0;
                       for (std::size_t j = 0; j < p.keys; ++j) sum += c->row[j] * c->v[j * d + x];
                       c->out.template data<double>()[i * d + x] = static_cast<double>(T(sum / total));
                     }
                   }
                 },
                 c->out.view(), false, &p, {}});
}

}  // namespace

void add_float128(methods& all, const problem& p) {
#if ATTEST_BENCH_QUADMATH
  add<__float128>(all, p, "__float128", [](__float128 x) { return expq(x); }, [](__float128 x) { return sqrtq(x); });
#else
  (void)p;
  all.push_back({.name = "__float128", .missing = "this compiler has no libquadmath"});
#endif
}

void add_boost_quad(methods& all, const problem& p) {
  using quad = boost::multiprecision::number<boost::multiprecision::cpp_bin_float_quad::backend_type,
                                             boost::multiprecision::et_off>;
  add<quad>(all, p, "Boost cpp_bin_float_quad", [](const quad& x) { return quad(exp(x)); },
            [](const quad& x) { return quad(sqrt(x)); });
}

}  // namespace bench
