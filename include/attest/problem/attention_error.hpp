#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace attest {

/// What is wrong with a call: one value for each thing that a caller can do about it (and for each error code
/// of an interface without exceptions).
enum class fault {
  shape,        // arrays that do not fit each other
  option,       // an option that is out of its domain, contradicts another, or has to be said and was not
  unsupported,  // an option that this kernel does not take
  value,        // NaN or infinity where a query looks
  overflow      // finite inputs whose scores or outputs overflow the kernel's format
};

/// A call that cannot be answered. what() is one sentence: "array K: shape [1, 2, 3, 8] ...: remedy".
class attention_error : public std::invalid_argument {
 public:
  attention_error(attest::fault kind, std::string_view array, const std::string& message)
      : std::invalid_argument("array " + std::string(array) + ": " + message), fault_(kind) {}
  /// For what concerns no array.
  attention_error(attest::fault kind, const std::string& message)
      : std::invalid_argument(message), fault_(kind) {}

  attest::fault fault() const { return fault_; }

 private:
  attest::fault fault_;
};

}  // namespace attest
