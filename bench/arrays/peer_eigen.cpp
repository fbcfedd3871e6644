// Eigen's expressions. Compiled with -O3 and all instructions of this machine.
#include "method.hpp"

#if ATTEST_BENCH_EIGEN

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include <cmath>

namespace bench {

namespace {

template <class T>
void add(methods& all, const problem& p) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using input = Eigen::Map<const matrix>;
  auto out = std::make_shared<array>(p.type, attest::layout{p.queries, p.width});
  auto scores = std::make_shared<matrix>();
  const auto rows = [](std::size_t n) { return static_cast<Eigen::Index>(n); };
  const input q(p.q.data<T>(), rows(p.queries), rows(p.width));
  const input k(p.k.data<T>(), rows(p.keys), rows(p.width));
  const input v(p.v.data<T>(), rows(p.keys), rows(p.width));
  const T scale = 1 / std::sqrt(static_cast<T>(p.width));
  all.push_back({"Eigen expressions",
                 [=] {
                   matrix& s = *scores;
                   s.noalias() = q * k.transpose() * scale;
                   const Eigen::Matrix<T, Eigen::Dynamic, 1> largest = s.rowwise().maxCoeff();
                   s = (s.colwise() - largest).array().exp().matrix();
                   Eigen::Map<matrix> o(out->template data<T>(), q.rows(), q.cols());
                   o.noalias() = s * v;
                   o.array().colwise() /= s.rowwise().sum().array();
                 },
                 out->view(), false, &p, {}});
}

}  // namespace

void add_eigen(methods& all, const problem& p) {
  if (p.type == attest::dtype::binary64)
    add<double>(all, p);
  else
    add<float>(all, p);
}

std::string version_of_eigen() {
  return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + '.' + std::to_string(EIGEN_MAJOR_VERSION) + '.' +
         std::to_string(EIGEN_MINOR_VERSION);
}

}  // namespace bench

#else

namespace bench {

void add_eigen(methods& all, const problem&) {
  all.push_back({.name = "Eigen expressions", .missing = "Eigen was not found when this was built (libeigen3-dev)"});
}
std::string version_of_eigen() { return {}; }

}  // namespace bench

#endif
