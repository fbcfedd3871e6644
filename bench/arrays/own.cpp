#include "method.hpp"

#include <attest/kernel/fused.hpp>
#include <attest/kernel/naive.hpp>
#include <attest/kernel/stable.hpp>
#include <attest/reference/certified_attention.hpp>

namespace bench {

using attest::dtype;

namespace {

template <class T>
struct typed_call {
  attest::kernel::attention_inputs<T> in;
  attest::attention_options options;
  array memory;
  attest::kernel::attention_results<T> out;
};

template <class T>
std::shared_ptr<typed_call<T>> call_of(const problem& p) {
  auto c = std::make_shared<typed_call<T>>();
  const auto view = [](const array& a) { return attest::tensor<const T>(a.data<T>(), a.view().where()); };
  c->in = {view(p.q), view(p.k), view(p.v)};
  c->options = p.options;
  c->memory = array(p.type, attest::layout{1, p.heads, p.queries, p.width});
  c->out = {attest::tensor<T>(c->memory.template data<T>(), c->memory.view().where())};
  return c;
}

/// A kernel on binary64 or binary32 by the problem's dtype.
template <class Kernel>
void add_kernel(methods& all, const problem& p, const std::string& name, Kernel kernel) {
  const auto add = [&](auto c) {
    all.push_back({name, [c, kernel] { kernel(c->in, c->options, c->out); }, c->memory.view(), false, &p, {}});
  };
  if (p.type == dtype::binary64)
    add(call_of<double>(p));
  else
    add(call_of<float>(p));
}

}  // namespace

void add_fused(methods& all, const problem& p, unsigned threads, const std::string& name) {
  add_kernel(all, p, name, [threads](const auto& in, const auto& options, const auto& out) {
    attest::kernel::fused(in, options, out, {threads});
  });
}

void add_stable(methods& all, const problem& p) {
  add_kernel(all, p, "stable", [](const auto& in, const auto& options, const auto& out) {
    attest::kernel::stable(in, options, out);
  });
}

void add_naive(methods& all, const problem& p) {
  add_kernel(all, p, "naive", [](const auto& in, const auto& options, const auto& out) {
    attest::kernel::naive(in, options, out);
  });
}

void add_certified(methods& all, const problem& p, unsigned threads, const std::string& name) {
  struct call {
    attest::certified_inputs in;
    array memory;
    attest::certified_results out;
    attest::certified_options how;
  };
  auto c = std::make_shared<call>();
  c->in = {p.q.view(), p.k.view(), p.v.view()};
  c->memory = array(p.type, attest::layout{1, p.heads, p.queries, p.width});
  c->out.output = c->memory.result();
  c->how.threads = threads;
  all.push_back({name.empty() ? "certified " + to_string(p.type) : name,
                 [c, &p] { attest::certified_attention(c->in, p.options, c->out, c->how); }, c->memory.view(), true, &p, {}});
}

}  // namespace bench
