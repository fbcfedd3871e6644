// Arb: balls of 128 bits, by matrix products and by dot products. The answer is the middle of each ball; the balls say how
// many of its doubles are sure.
#include "method.hpp"

#if ATTEST_BENCH_ARB

#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#include <flint/arb_mat.h>
#include <flint/flint.h>
#else
#include <arb.h>
#include <arb_mat.h>
#include <flint/flint.h>
#endif

namespace bench {

namespace {

constexpr slong bits = 128;

slong size(std::size_t n) { return static_cast<slong>(n); }

class matrix {
 public:
  matrix(std::size_t rows, std::size_t columns) { arb_mat_init(m_, size(rows), size(columns)); }
  matrix(const matrix&) = delete;
  matrix& operator=(const matrix&) = delete;
  ~matrix() { arb_mat_clear(m_); }
  arb_mat_struct* get() { return m_; }
  arb_ptr at(std::size_t i, std::size_t j) { return arb_mat_entry(m_, size(i), size(j)); }

 private:
  arb_mat_t m_;
};

class ball {
 public:
  ball() { arb_init(x_); }
  ball(const ball&) = delete;
  ball& operator=(const ball&) = delete;
  ~ball() { arb_clear(x_); }
  arb_ptr get() { return x_; }

 private:
  arb_t x_;
};

struct call {
  const problem& p;
  matrix q, k, k_transposed, v, v_transposed, scores, out;
  ball scale, total;
  explicit call(const problem& of)
      : p(of),
        q(p.queries, p.width),
        k(p.keys, p.width),
        k_transposed(p.width, p.keys),
        v(p.keys, p.width),
        v_transposed(p.width, p.keys),
        scores(p.queries, p.keys),
        out(p.queries, p.width) {
    const auto set = [&](matrix& m, const array& a) {
      const std::vector<double> x = a.values();
      for (std::size_t i = 0; i < x.size(); ++i) arb_set_d(m.at(i / p.width, i % p.width), x[i]);
    };
    set(q, p.q);
    set(k, p.k);
    set(v, p.v);
  }

  void run(bool by_matrices, double* result) {
    if (by_matrices) {
      arb_mat_transpose(k_transposed.get(), k.get());
      arb_mat_mul(scores.get(), q.get(), k_transposed.get(), bits);
    } else {
      for (std::size_t i = 0; i < p.queries; ++i)
        for (std::size_t j = 0; j < p.keys; ++j)
          arb_dot(scores.at(i, j), nullptr, 0, q.at(i, 0), 1, k.at(j, 0), 1, size(p.width), bits);
    }
    arb_set_ui(scale.get(), p.width);
    arb_rsqrt(scale.get(), scale.get(), bits);
    for (std::size_t i = 0; i < p.queries; ++i)
      for (std::size_t j = 0; j < p.keys; ++j) {
        arb_mul(scores.at(i, j), scores.at(i, j), scale.get(), bits);
        arb_exp(scores.at(i, j), scores.at(i, j), bits);
      }
    if (by_matrices) {
      arb_mat_mul(out.get(), scores.get(), v.get(), bits);
    } else {
      arb_mat_transpose(v_transposed.get(), v.get());
      for (std::size_t i = 0; i < p.queries; ++i)
        for (std::size_t c = 0; c < p.width; ++c)
          arb_dot(out.at(i, c), nullptr, 0, scores.at(i, 0), 1, v_transposed.at(c, 0), 1, size(p.keys), bits);
    }
    for (std::size_t i = 0; i < p.queries; ++i) {
      arb_zero(total.get());
      for (std::size_t j = 0; j < p.keys; ++j) arb_add(total.get(), total.get(), scores.at(i, j), bits);
      for (std::size_t c = 0; c < p.width; ++c) {
        arb_div(out.at(i, c), out.at(i, c), total.get(), bits);
        result[i * p.width + c] = arf_get_d(arb_midref(out.at(i, c)), ARF_RND_NEAR);
      }
    }
  }
};

}  // namespace

void add_arb(methods& all, const problem& p) {
  for (const bool by_matrices : {true, false}) {
    auto c = std::make_shared<call>(p);
    auto out = std::make_shared<array>(p.type, attest::layout{p.queries, p.width});
    all.push_back({by_matrices ? "Arb, mat_mul, 128 bits" : "Arb, dot, 128 bits",
                   [=] { c->run(by_matrices, out->data<double>()); }, out->view(), false, &p, {}});
  }
}

std::string version_of_arb() {
#if __has_include(<flint/arb.h>)
  return std::string("FLINT with Arb ") + FLINT_VERSION;
#else
  return std::string("Arb ") + ::arb_version + ", FLINT " + FLINT_VERSION;
#endif
}
void one_arb_thread() { flint_set_num_threads(1); }

}  // namespace bench

#else

namespace bench {

void add_arb(methods& all, const problem&) {
  all.push_back({.name = "Arb, mat_mul, 128 bits",
                 .missing = "Arb was not found when this was built (libflint-dev, before FLINT 3 libflint-arb-dev)"});
}
std::string version_of_arb() { return {}; }
void one_arb_thread() {}

}  // namespace bench

#endif
