// Two matrix products of OpenBLAS with a softmax between them, whose exponential is the fused kernel's or that of libm.
#include "method.hpp"
#include "vectors.hpp"

#include <cmath>

#if ATTEST_BENCH_OPENBLAS
// Names and numbers of the C interface of BLAS, which is where the distributions differ in their headers.
extern "C" {
void cblas_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc);
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc);
void openblas_set_num_threads(int threads);
char* openblas_get_config(void);
char* openblas_get_corename(void);
}

namespace bench {

namespace {

constexpr int row_major = 101, plain = 111, transposed = 112;

void gemm(int transpose_b, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb, double* c,
          int ldc) {
  cblas_dgemm(row_major, plain, transpose_b, m, n, k, alpha, a, lda, b, ldb, 0, c, ldc);
}
void gemm(int transpose_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float* c,
          int ldc) {
  cblas_sgemm(row_major, plain, transpose_b, m, n, k, alpha, a, lda, b, ldb, 0, c, ldc);
}

template <class T>
void attention(const problem& p, std::size_t block, bool by_vectors, T* scores, T* out) {
  const auto width = static_cast<int>(p.width);
  const auto keys = static_cast<int>(p.keys);
  T alpha = 1 / std::sqrt(static_cast<T>(p.width));
  if (by_vectors) alpha *= static_cast<T>(1.4426950408889634);  // base two
  for (std::size_t first = 0; first < p.queries; first += block) {
    const std::size_t count = std::min(block, p.queries - first);
    const auto rows = static_cast<int>(count);
    gemm(transposed, rows, keys, width, alpha, p.q.data<T>() + first * p.width, width, p.k.data<T>(), width, scores, keys);
    std::vector<T> totals(count);
    for (std::size_t i = 0; i < count; ++i)
      totals[i] = by_vectors ? exponentials_by_vectors(scores + i * p.keys, p.keys)
                             : exponentials_by_libm(scores + i * p.keys, p.keys);
    T* const result = out + first * p.width;
    gemm(plain, rows, width, keys, T(1), scores, keys, p.v.data<T>(), width, result, width);
    for (std::size_t i = 0; i < count; ++i) {
      const T factor = 1 / totals[i];
      for (std::size_t c = 0; c < p.width; ++c) result[i * p.width + c] *= factor;
    }
  }
}

template <class T>
void add(methods& all, const problem& p, const std::string& name, std::size_t block, bool by_vectors) {
  auto scores = std::make_shared<array>(p.type, attest::layout{std::min(block, p.queries), p.keys});
  auto out = std::make_shared<array>(p.type, attest::layout{p.queries, p.width});
  all.push_back({name,
                 [=, &p] { attention<T>(p, block, by_vectors, scores->template data<T>(), out->template data<T>()); },
                 out->view(), false, &p, {}});
}

}  // namespace

void add_blas(methods& all, const problem& p) {
  constexpr std::size_t block = 256;  // rows of scores, so that they stay in the cache
  const auto both = [&]<class T>(T) {
    add<T>(all, p, "OpenBLAS + vector exp", p.queries, true);
    if (p.queries > block) add<T>(all, p, "OpenBLAS + vector exp, by 256 rows", block, true);
    add<T>(all, p, "OpenBLAS + libm exp", p.queries, false);
  };
  if (p.type == attest::dtype::binary64)
    both(double());
  else
    both(float());
}

std::string version_of_openblas() { return std::string(openblas_get_config()) + ", running as " + openblas_get_corename(); }
void one_openblas_thread() { openblas_set_num_threads(1); }

}  // namespace bench

#else

namespace bench {

void add_blas(methods& all, const problem&) {
  all.push_back({.name = "OpenBLAS + vector exp", .missing = "OpenBLAS was not found when this was built (libopenblas-dev)"});
}
std::string version_of_openblas() { return {}; }
void one_openblas_thread() {}

}  // namespace bench

#endif
