// MPFR with the 113 bits of binary128.
#include "exact_rows.hpp"
#include "method.hpp"

#if ATTEST_BENCH_MPFR

#include <mpfr.h>

#include <cmath>

namespace bench {

namespace {

/// Numbers of one precision.
class reals {
 public:
  reals(std::size_t count, mpfr_prec_t bits) : numbers_(count) {
    for (auto& x : numbers_) mpfr_init2(&x, bits);
  }
  reals(const reals&) = delete;
  reals& operator=(const reals&) = delete;
  ~reals() {
    for (auto& x : numbers_) mpfr_clear(&x);
  }
  mpfr_ptr operator[](std::size_t i) { return &numbers_[i]; }
  void set(const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) mpfr_set_d(&numbers_[i], values[i], MPFR_RNDN);
  }

 private:
  std::vector<__mpfr_struct> numbers_;
};

struct call {
  const problem& p;
  mpfr_prec_t bits;
  reals q, k, v, row, temporary;
  explicit call(const problem& of, mpfr_prec_t precision)
      : p(of),
        bits(precision),
        q(p.queries * p.width, bits),
        k(p.keys * p.width, bits),
        v(p.keys * p.width, bits),
        row(p.keys, bits),
        temporary(4, bits) {
    q.set(p.q.values());
    k.set(p.k.values());
    v.set(p.v.values());
  }

  void query(std::size_t i, double* out) {
    mpfr_ptr scale = temporary[0], largest = temporary[1], total = temporary[2], sum = temporary[3];
    mpfr_set_ui(scale, p.width, MPFR_RNDN);
    mpfr_rec_sqrt(scale, scale, MPFR_RNDN);
    for (std::size_t j = 0; j < p.keys; ++j) {
      mpfr_set_zero(sum, 1);
      for (std::size_t c = 0; c < p.width; ++c) mpfr_fma(sum, q[i * p.width + c], k[j * p.width + c], sum, MPFR_RNDN);
      mpfr_mul(row[j], sum, scale, MPFR_RNDN);
      if (j == 0 || mpfr_greater_p(row[j], largest)) mpfr_set(largest, row[j], MPFR_RNDN);
    }
    mpfr_set_zero(total, 1);
    for (std::size_t j = 0; j < p.keys; ++j) {
      mpfr_sub(row[j], row[j], largest, MPFR_RNDN);
      mpfr_exp(row[j], row[j], MPFR_RNDN);
      mpfr_add(total, total, row[j], MPFR_RNDN);
    }
    for (std::size_t c = 0; c < p.width; ++c) {
      mpfr_set_zero(sum, 1);
      for (std::size_t j = 0; j < p.keys; ++j) mpfr_fma(sum, row[j], v[j * p.width + c], sum, MPFR_RNDN);
      mpfr_div(sum, sum, total, MPFR_RNDN);
      out[c] = mpfr_get_d(sum, MPFR_RNDN);
      if (low != nullptr) {
        mpfr_sub_d(sum, sum, out[c], MPFR_RNDN);
        low[c] = mpfr_get_d(sum, MPFR_RNDN);
      }
    }
  }
  double* low = nullptr;  // exact - out, where wanted
};

}  // namespace

void add_mpfr(methods& all, const problem& p) {
  auto c = std::make_shared<call>(p, 113);
  auto out = std::make_shared<array>(p.type, attest::layout{p.queries, p.width});
  all.push_back({"MPFR, 113 bits",
                 [=] {
                   for (std::size_t i = 0; i < c->p.queries; ++i) c->query(i, out->data<double>() + i * c->p.width);
                 },
                 out->view(), false, &p, {}});
}

std::optional<exact_rows> rows_by_mpfr(const problem& p, const std::vector<std::size_t>& rows) {
  call c(p, 400);
  exact_rows result;
  result.high.resize(rows.size() * p.width);
  result.low.resize(result.high.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    c.low = result.low.data() + i * p.width;
    c.query(rows[i], result.high.data() + i * p.width);
  }
  return result;
}

std::string version_of_mpfr() { return std::string("MPFR ") + mpfr_get_version(); }

}  // namespace bench

#else

namespace bench {

void add_mpfr(methods& all, const problem&) {
  all.push_back({.name = "MPFR, 113 bits", .missing = "MPFR was not found when this was built (libmpfr-dev)"});
}
std::optional<exact_rows> rows_by_mpfr(const problem&, const std::vector<std::size_t>&) { return std::nullopt; }
std::string version_of_mpfr() { return {}; }

}  // namespace bench

#endif
