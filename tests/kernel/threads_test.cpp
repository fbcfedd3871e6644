// Fork and join: every part once, the lowest exception whatever the number of threads, the float environment
// in every worker.
#include "../../src/kernel/threads.hpp"

#include "catch.hpp"

#include <atomic>
#include <cfenv>
#include <stdexcept>
#include <string>
#include <vector>

using attest::kernel::for_each_part;

TEST_CASE("every part is called once, on one of the threads") {
  for (const unsigned threads : {0u, 1u, 2u, 7u})
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> calls(count);
      std::atomic<unsigned> highest = 0;
      for_each_part(threads, count, [&](std::size_t part, unsigned thread) {
        ++calls[part];
        unsigned seen = highest;
        while (seen < thread && !highest.compare_exchange_weak(seen, thread)) {
        }
      });
      for (const auto& n : calls) CHECK(n == 1);
      CHECK(highest < attest::kernel::thread_count(threads));
    }
}

TEST_CASE("of several exceptions that of the lowest part arrives") {
  for (const unsigned threads : {1u, 2u, 7u})
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::string message = "nothing";
      try {
        for_each_part(threads, 200, [](std::size_t part, unsigned) {
          if (part >= 30 && part % 3 == 0) throw std::runtime_error(std::to_string(part));
        });
      } catch (const std::runtime_error& e) {
        message = e.what();
      }
      CHECK(message == "30");
    }
}

TEST_CASE("workers round to nearest, and the caller's rounding mode comes back") {
  std::fesetround(FE_UPWARD);
  std::atomic<int> wrong = 0;
  for_each_part(3, 300, [&](std::size_t, unsigned) {
    if (std::fegetround() != FE_TONEAREST) ++wrong;
  });
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(wrong == 0);
  CHECK(after == FE_UPWARD);
}
