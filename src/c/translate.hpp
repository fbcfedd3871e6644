#pragma once

#include <attest.h>

#include <attest/problem/options.hpp>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

// From the structures of attest.h to what the library takes.
namespace attest::c {

/// What only a caller in C can get wrong: ATTEST_ARGUMENT.
class argument_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// What is known to need more memory than there is: ATTEST_OUT_OF_MEMORY.
class memory_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The status of the exception that is being handled; its message becomes this thread's last error.
attest_status status_of_current_exception() noexcept;

/// Runs the call; what it throws becomes a status.
template <class F>
attest_status guarded(F call) noexcept {
  try {
    call();
    return ATTEST_OK;
  } catch (...) {
    return status_of_current_exception();
  }
}

template <class T>
const T& required(const T* argument, const char* name) {
  if (argument == nullptr) throw argument_error(std::string(name) + " is null");
  return *argument;
}

/// The structure as this library knows it: what the caller does not know of it is zero. A caller that knows
/// more may not have said any of that.
template <class T>
T known(const T& given, const char* name, const char* initializer) {
  const std::size_t size = given.size;
  if (size < sizeof(std::size_t))
    throw argument_error(std::string(name) + "->size is " + std::to_string(size) + ": initialise it with " +
                         initializer);
  T result{};
  std::memcpy(&result, &given, size < sizeof(T) ? size : sizeof(T));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      throw argument_error(std::string(name) +
                           " says something that this version of the library does not know: it is " +
                           attest_version());
  return result;
}
template <class T>
T known_or_none(const T* given, const char* name, const char* initializer) {
  return given == nullptr ? T{} : known(*given, name, initializer);
}

/// Whether the caller gave this array: all zero stands for none.
template <class Array>
bool given(const Array& a) {
  return a.data != nullptr || a.dtype != 0 || a.rank != 0 || a.shape != nullptr || a.strides != nullptr;
}

/// Q, K or V.
any_tensor array(const attest_array& a, const char* name);
any_result result(const attest_result& a, const char* name);

/// Arrays of one call, to find those to be written that lie where others do. Two are known to overlap if they
/// begin at the same element, or if both lie without gaps.
class places {
 public:
  void add_input(const any_tensor& array, const char* name);
  /// argument_error where it overlaps one that was added before.
  void add_result(const any_result& array, const char* name);

 private:
  struct place {
    const char* name;
    const unsigned char* first;
    const unsigned char* last;  // one beyond the end
    bool dense;
  };
  static place place_of(const void* data, dtype type, const layout& where, const char* name);
  std::vector<place> all_;
};

/// The lists of `o` are read once their lengths have been held against the heads and the batch of Q.
attention_options options(const attest_options& o, const layout& q);

/// memory_error where keys and values of one head, packed as doubles, are larger than the machine's memory.
/// (Views whose strides are 0 may claim any number of keys.)
void check_memory(const any_tensor& k, const any_tensor& v);

/// 0: as many as there are processors.
unsigned threads(const attest_options& o);

/// An element type that the caller named; `name` is what a message calls the array.
dtype element_type(std::int32_t type, const char* name);

}  // namespace attest::c
