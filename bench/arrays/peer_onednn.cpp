// oneDNN: two matrix products and a softmax, binary32 (on a processor it has no binary64).
#include "method.hpp"

#if ATTEST_BENCH_ONEDNN

#include <oneapi/dnnl/dnnl.hpp>

#include <cmath>

namespace bench {

namespace {

struct graph {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<float> scaled;
  std::vector<float> scores;
  array answer;
  dnnl::memory q, k, v, s, o;
  dnnl::matmul products, output;
  dnnl::softmax_forward softmax;

  explicit graph(const problem& p)
      : scaled(p.queries * p.width), scores(p.queries * p.keys), answer(p.type, attest::layout{p.queries, p.width}) {
    using tag = dnnl::memory::format_tag;
    const auto size = [](std::size_t n) { return static_cast<dnnl::memory::dim>(n); };
    const auto description = [&](std::size_t rows, std::size_t columns, tag order) {
      return dnnl::memory::desc({size(rows), size(columns)}, dnnl::memory::data_type::f32, order);
    };
    const auto qd = description(p.queries, p.width, tag::ab);
    const auto kd = description(p.width, p.keys, tag::ba);  // K as it lies is its transpose
    const auto vd = description(p.keys, p.width, tag::ab);
    const auto sd = description(p.queries, p.keys, tag::ab);
    const auto od = description(p.queries, p.width, tag::ab);
    q = dnnl::memory(qd, engine, scaled.data());
    k = dnnl::memory(kd, engine, p.k.data<float>());
    v = dnnl::memory(vd, engine, p.v.data<float>());
    s = dnnl::memory(sd, engine, scores.data());
    o = dnnl::memory(od, engine, answer.data<float>());
#if DNNL_VERSION_MAJOR >= 3
    products = dnnl::matmul(dnnl::matmul::primitive_desc(engine, qd, kd, sd));
    output = dnnl::matmul(dnnl::matmul::primitive_desc(engine, sd, vd, od));
    softmax = dnnl::softmax_forward(dnnl::softmax_forward::primitive_desc(
        engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, sd, sd, 1));
#else
    products = dnnl::matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(qd, kd, sd), engine));
    output = dnnl::matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(sd, vd, od), engine));
    softmax = dnnl::softmax_forward(dnnl::softmax_forward::primitive_desc(
        dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, sd, 1), engine));
#endif
  }

  void run(const problem& p) {
    const float scale = 1 / std::sqrt(static_cast<float>(p.width));
    const float* const given = p.q.data<float>();
    for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] = given[i] * scale;
    products.execute(stream, {{DNNL_ARG_SRC, q}, {DNNL_ARG_WEIGHTS, k}, {DNNL_ARG_DST, s}});
    softmax.execute(stream, {{DNNL_ARG_SRC, s}, {DNNL_ARG_DST, s}});
    output.execute(stream, {{DNNL_ARG_SRC, s}, {DNNL_ARG_WEIGHTS, v}, {DNNL_ARG_DST, o}});
    stream.wait();
  }
};

}  // namespace

void add_onednn(methods& all, const problem& p) {
  if (p.type != attest::dtype::binary32) {
    all.push_back({.name = "oneDNN", .missing = "oneDNN has no binary64 on a processor"});
    return;
  }
  try {
    auto g = std::make_shared<graph>(p);
    all.push_back({"oneDNN", [g, &p] { g->run(p); }, g->answer.view(), false, &p, {}});
  } catch (const dnnl::error& e) {
    all.push_back({.name = "oneDNN", .missing = std::string("oneDNN refuses: ") + e.what()});
  }
}

std::string version_of_onednn() {
  const dnnl_version_t* const v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' + std::to_string(v->patch);
}

}  // namespace bench

#else

namespace bench {

void add_onednn(methods& all, const problem&) {
  all.push_back({.name = "oneDNN", .missing = "oneDNN was not found when this was built (libdnnl-dev)"});
}
std::string version_of_onednn() { return {}; }

}  // namespace bench

#endif
