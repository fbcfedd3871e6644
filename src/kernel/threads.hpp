#pragma once

#include <cstddef>
#include <functional>

namespace attest::kernel {

/// The number of threads that a caller means: 0 is as many as the machine has, and more than 4096 is 4096.
unsigned thread_count(unsigned wanted);

/// Calls f(part, thread) once for every part in [0, count), on at most `threads` threads (0: as many as the
/// machine has), the caller's among them; thread < threads says on which, so that each can have memory of its
/// own. Every thread has a float_environment. Which thread takes which part is not determined: a part whose
/// results depend only on its number makes results that do not depend on the number of threads.
///
/// Returns when all parts are done. Of the exceptions that parts throw the one of the lowest part is thrown
/// again, whatever the number of threads; parts after it may not have been called.
void for_each_part(unsigned threads, std::size_t count,
                   const std::function<void(std::size_t part, unsigned thread)>& f);

}  // namespace attest::kernel
