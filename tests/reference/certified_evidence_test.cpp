#include "certified_cases.hpp"

#include "../../src/reference/instruction_sets.hpp"
#include "catch.hpp"

#include <cfenv>

// certified_attention() against an independent evaluation in MPFR, over inputs of every kind; and that
// nothing but the inputs has an influence: no tier, no instruction set, no number of threads, no rounding
// mode of the caller.

using namespace certified_cases;

namespace {

constexpr dtype types[] = {dtype::binary64,        dtype::binary32,       dtype::binary16,
                           dtype::bfloat16,        dtype::float8_e4m3fn,  dtype::float8_e5m2,
                           dtype::float8_e4m3fnuz, dtype::float8_e5m2fnuz};
constexpr rounding directions[] = {rounding::nearest_even, rounding::nearest_even, rounding::toward_zero,
                                   rounding::up,           rounding::down,         rounding::to_odd};

request random_request(generator& g) {
  request r;
  r.type = types[g() % 8];
  r.direction = directions[g() % 6];
  r.low_words = g() % 3 == 0;
  r.weights = g() % 3 == 0;
  if (g() % 3 == 0)
    r.log_sum_exp = g() % 2 == 0 ? attest::log_sum_exp_base::e : attest::log_sum_exp_base::two;
  r.saturate = g() % 4 == 0;
  return r;
}

}  // namespace

TEST_CASE("Every kind of input: no element differs from MPFR") {
  generator g(20261129);
  tally all;
  for (const family f : families) {
    tally of_family;
    for (int trial = 0; trial < 60; ++trial) {
      head h = make(f, g, 1 + g() % 3, 1 + g() % 24, 1 + g() % 10, 1 + g() % 6);
      add_options(h, g);
      const request r = random_request(g);
      of_family += check(h, r, ask(h, r));
    }
    INFO(name(f) << ": " << of_family.first_wrong);
    CHECK(of_family.wrong == 0);
    CHECK(of_family.undecided == 0);
    all += of_family;
  }
  CHECK(all.elements > 8000);
  CHECK(all.exact > 300);
  CHECK(all.beyond < all.elements / 100);
}

TEST_CASE("Scores that are equal and nobody sees it: certificates of every row") {
  generator g(31);
  tally all;
  for (int trial = 0; trial < 60; ++trial) {
    head h = make(family::all_equal, g, 8, 1 + g() % 9, 2, 3);
    for (double& v : h.v) v = std::rint(4 * v);
    h.bias.assign(h.queries * h.keys, trial % 2 == 0 ? 0.0 : 0.75);
    h.causal = trial % 3 == 0;
    h.mask.resize(h.queries * h.keys);
    for (auto& m : h.mask) m = g() % 4 != 0 ? 1 : 0;
    request r = random_request(g);
    r.weights = trial % 4 == 1;
    if (trial % 4 != 1) r.log_sum_exp.reset();
    all += check(h, r, ask(h, r));
  }
  INFO(all.first_wrong);
  CHECK(all.wrong == 0);
  CHECK(all.exact > 500);
}

TEST_CASE("With a softcap") {
  generator g(7);
  tally all;
  for (const family f : families) {
    if (f == family::huge || f == family::subnormal || f == family::tiny) continue;
    for (int trial = 0; trial < 6; ++trial) {
      head h = make(f, g, 1, 1 + g() % 9, 1 + g() % 5, 1 + g() % 3);
      add_options(h, g);
      h.softcap = 0.5 + std::fabs(normal(g));
      const request r = random_request(g);
      all += check(h, r, ask(h, r));
    }
  }
  INFO(all.first_wrong);
  CHECK(all.wrong == 0);
  CHECK(all.elements > 300);
}

TEST_CASE("Long rows and wide heads, every remainder") {
  generator g(11);
  tally all;
  for (std::size_t keys = 1; keys <= 70; ++keys) {
    const head h = make(families[keys % 8], g, 1 + keys % 2, keys, 1 + keys % 67, 1 + keys % 35);
    request r;
    r.type = types[keys % 4];
    all += check(h, r, ask(h, r));
  }
  constexpr std::size_t longer[] = {127, 128, 129, 511, 1024, 2047, 2048};
  for (const std::size_t keys : longer) {
    const head h = make(family::normal, g, 2, keys, keys % 2 == 0 ? 64 : 256, 5);
    request r;
    r.type = types[keys % 4];
    all += check(h, r, ask(h, r));
  }
  INFO(all.first_wrong);
  CHECK(all.wrong == 0);
  CHECK(all.beyond == 0);
}

TEST_CASE("The tiers, forced on and off, give the same bytes and certificates") {
  generator g(12);
  std::array<std::size_t, 4> settled{};
  for (const family f : families)
    for (int trial = 0; trial < 12; ++trial) {
      head h = make(f, g, 1 + g() % 4, 1 + g() % 30, 1 + g() % 9, 1 + g() % 9);
      add_options(h, g);
      request r = random_request(g);
      const answer all = ask(h, r);
      for (std::size_t t = 0; t < 4; ++t) settled[t] += all.settled.settled[t];
      for (const std::array<bool, 4> tiers : {std::array<bool, 4>{false, false, true, true},
                                              {true, false, true, true},
                                              {false, true, true, true}}) {
        r.tiers = tiers;
        const answer some = ask(h, r);
        INFO(name(f) << " " << trial);
        CHECK(some.same_bytes(all));
        CHECK(some.settled.undecided == 0);
        if (!tiers[0]) CHECK(some.settled.settled[0] == 0);
        if (!tiers[1]) CHECK(some.settled.settled[1] == 0);
      }
    }
  for (std::size_t t = 0; t < 4; ++t) CHECK(settled[t] > 100);  // each of them has had something to say
}

namespace {

// A fixed case with everything in it, larger than a block of any tier.
head mixed_head() {
  generator g(99);
  head h = make(family::normal, g, 75, 140, 33, 19);
  for (std::size_t c = 0; c < h.width; ++c) h.q[3 * h.width + c] = 0;         // a row of equal scores
  for (std::size_t c = 0; c < h.width; ++c) h.q[4 * h.width + c] *= 400;      // a peaked row
  for (std::size_t j = 0; j < h.keys; ++j) h.v[j * h.value_width + 7] = 0.1;  // a constant column
  for (std::size_t j = 0; j < h.keys; ++j) h.v[j * h.value_width + 8] = std::rint(h.v[j * h.value_width + 8]);
  h.causal = true;
  h.slope = 0.03125;
  return h;
}

request everything(dtype type) {
  request r;
  r.type = type;
  r.low_words = true;
  r.weights = true;
  r.log_sum_exp = attest::log_sum_exp_base::e;
  return r;
}

}  // namespace

TEST_CASE("The same bytes with 1, 2 and 7 threads") {
  const head h = mixed_head();
  for (const dtype type : {dtype::binary64, dtype::bfloat16})
    for (const bool low : {false, true}) {
      request r = everything(type);
      r.low_words = r.weights = low;
      if (!low) r.log_sum_exp.reset();
      const answer one = ask(h, r);
      for (const unsigned threads : {2u, 7u, 0u}) {
        r.threads = threads;
        CHECK(ask(h, r).same_bytes(one));
      }
    }
}

TEST_CASE("The same bytes with every instruction set of the machine") {
  const head h = mixed_head();
  std::vector<answer> first;
  for (const std::string& set : attest::instruction_sets::available()) {
    attest::instruction_sets::use(set);
    std::vector<answer> here;
    for (const dtype type : {dtype::binary64, dtype::binary32, dtype::binary16, dtype::float8_e4m3fn}) {
      request r = everything(type);
      here.push_back(ask(h, r));
      r.low_words = r.weights = false;
      r.log_sum_exp.reset();
      here.push_back(ask(h, r));
    }
    if (first.empty()) first = here;
    INFO(set);
    for (std::size_t n = 0; n < here.size(); ++n) CHECK(here[n].same_bytes(first[n]));
  }
  attest::instruction_sets::use("");
  CHECK(first.size() == 8);
}

TEST_CASE("The same bytes in a caller's odd floating-point environment, which stays") {
  const head h = mixed_head();
  const request r = everything(dtype::binary32);
  const answer usual = ask(h, r);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const answer odd = ask(h, r);
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(odd.same_bytes(usual));
    CHECK(after == mode);
  }
#if defined(__SSE__)
  const unsigned control = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(control | 0x8040);  // flush to zero, denormals are zero
  const answer flushed = ask(h, r);
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(control);
  CHECK(flushed.same_bytes(usual));
  CHECK((after & 0x8040) == 0x8040);
  generator g(5);
  const head tiny = make(family::subnormal, g, 2, 9, 3, 4);
  const answer kept = ask(tiny, r);
  __builtin_ia32_ldmxcsr(control | 0x8040);
  const answer flushed_tiny = ask(tiny, r);
  __builtin_ia32_ldmxcsr(control);
  CHECK(flushed_tiny.same_bytes(kept));
#endif
}

namespace {

// FNV-1a, 64 bits.
std::uint64_t digest(std::uint64_t hash, const void* data, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001B3u;
  return hash;
}

std::uint64_t digest(const answer& a) {
  std::uint64_t h = 0xCBF29CE484222325u;
  h = digest(h, a.output.data(), a.output.size());
  h = digest(h, a.weights.data(), a.weights.size());
  h = digest(h, a.log_sum_exp.data(), a.log_sum_exp.size());
  h = digest(h, a.output_low.data(), a.output_low.size() * sizeof(float));
  h = digest(h, a.weights_low.data(), a.weights_low.size() * sizeof(float));
  h = digest(h, a.log_sum_exp_low.data(), a.log_sum_exp_low.size() * sizeof(float));
  h = digest(h, a.output_certificates.data(), a.output_certificates.size());
  return h;
}

}  // namespace

TEST_CASE("Digests of the mixed head, whatever the compiler") {
  const head h = mixed_head();
  CHECK(check(h, everything(dtype::binary64), ask(h, everything(dtype::binary64)), 7).wrong == 0);
  CHECK(digest(ask(h, everything(dtype::binary64))) == 0x5c8b91a4b4a78db4);
  CHECK(digest(ask(h, everything(dtype::bfloat16))) == 0x185a86eecc8f6203);
}
