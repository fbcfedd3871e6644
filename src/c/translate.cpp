#include "c/translate.hpp"

#include <attest/problem/attention_error.hpp>
#include <attest/reference/certified_attention.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

namespace attest::c {

namespace {

thread_local char last_error[1024] = "";

attest_status fail(attest_status status, std::string_view message) noexcept {
  const std::size_t length = message.copy(last_error, sizeof last_error - 1);
  last_error[length] = '\0';
  return status;
}

attest_status status_of(fault kind) noexcept {
  switch (kind) {
    case fault::shape:
      return ATTEST_SHAPE;
    case fault::option:
      return ATTEST_OPTION;
    case fault::unsupported:
      return ATTEST_UNSUPPORTED;
    case fault::value:
      return ATTEST_VALUE;
    case fault::overflow:
      return ATTEST_OVERFLOW;
  }
  return ATTEST_INTERNAL;
}

}  // namespace

attest_status status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const attention_error& e) {
    return fail(status_of(e.fault()), e.what());
  } catch (const argument_error& e) {
    return fail(ATTEST_ARGUMENT, e.what());
  } catch (const std::bad_alloc&) {
    return fail(ATTEST_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error&) {  // a vector larger than any memory
    return fail(ATTEST_OUT_OF_MEMORY, "out of memory: an array is larger than any memory");
  } catch (const interrupted&) {
    return fail(ATTEST_INTERRUPTED, "interrupted by the progress function");
  } catch (const std::exception& e) {
    return fail(ATTEST_INTERNAL, e.what());
  } catch (...) {
    return fail(ATTEST_INTERNAL, "an exception of unknown type");
  }
}

dtype element_type(std::int32_t type, const char* name) {
  switch (type) {
    case ATTEST_BOOLEAN:
      return dtype::boolean;
    case ATTEST_INT8:
      return dtype::int8;
    case ATTEST_INT16:
      return dtype::int16;
    case ATTEST_INT32:
      return dtype::int32;
    case ATTEST_INT64:
      return dtype::int64;
    case ATTEST_UINT8:
      return dtype::uint8;
    case ATTEST_UINT16:
      return dtype::uint16;
    case ATTEST_UINT32:
      return dtype::uint32;
    case ATTEST_UINT64:
      return dtype::uint64;
    case ATTEST_FLOAT8_E4M3FN:
      return dtype::float8_e4m3fn;
    case ATTEST_FLOAT8_E5M2:
      return dtype::float8_e5m2;
    case ATTEST_FLOAT8_E4M3FNUZ:
      return dtype::float8_e4m3fnuz;
    case ATTEST_FLOAT8_E5M2FNUZ:
      return dtype::float8_e5m2fnuz;
    case ATTEST_BFLOAT16:
      return dtype::bfloat16;
    case ATTEST_BINARY16:
      return dtype::binary16;
    case ATTEST_BINARY32:
      return dtype::binary32;
    case ATTEST_BINARY64:
      return dtype::binary64;
    default:
      throw argument_error("array " + std::string(name) + ": its dtype is " + std::to_string(type) +
                           ", which is none of attest_dtype");
  }
}

namespace {

std::size_t extent(std::int64_t e, const char* name) {
  if (e < 0)
    throw attention_error(fault::shape, name, "an extent is " + std::to_string(e) + ": it has to be 0 or more");
  if (static_cast<std::uint64_t>(e) > std::numeric_limits<std::size_t>::max())
    throw attention_error(fault::shape, name, "an extent of " + std::to_string(e) + " does not fit into memory");
  return static_cast<std::size_t>(e);
}

layout layout_of(std::int32_t rank, const std::int64_t* shape, const std::int64_t* strides, const char* name) {
  if (rank < 2 || rank > 4)
    throw attention_error(fault::shape, name,
                          "its rank is " + std::to_string(rank) +
                              ": an array has two, three or four axes, [T, d], [B, T, d] or [B, H, T, d]");
  if (shape == nullptr) throw argument_error("array " + std::string(name) + ": its shape is null");
  const auto e = [&](int axis) { return extent(shape[axis], name); };
  if (strides == nullptr)
    return rank == 2 ? layout{e(0), e(1)} : rank == 3 ? layout{e(0), e(1), e(2)} : layout{e(0), e(1), e(2), e(3)};
  const auto s = [&](int axis) { return static_cast<std::ptrdiff_t>(strides[axis]); };
  return rank == 2   ? layout({e(0), e(1)}, {s(0), s(1)})
         : rank == 3 ? layout({e(0), e(1), e(2)}, {s(0), s(1), s(2)})
                     : layout({e(0), e(1), e(2), e(3)}, {s(0), s(1), s(2), s(3)});
}

/// An enumerator of an option, of which 0 stands for "not said".
template <class T>
std::optional<T> choice(std::int32_t value, std::initializer_list<T> meanings, const char* name) {
  if (value == 0) return std::nullopt;
  if (value < 0 || static_cast<std::size_t>(value) > meanings.size())
    throw argument_error(std::string(name) + " is " + std::to_string(value) + ", which is none of its values");
  return meanings.begin()[value - 1];
}

std::optional<std::size_t> position(const std::uint64_t* value) {
  if (value == nullptr) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

template <class T, class U>
std::vector<T> numbers(const U* first, std::size_t count, const char* name) {
  if (first == nullptr && count > 0)
    throw argument_error(std::string(name) + " is null and " + name + "_count is " + std::to_string(count));
  if (first != nullptr && count == 0)
    throw argument_error(std::string(name) + " is given and " + name + "_count is 0");
  std::vector<T> result;
  result.reserve(count);  // before the sum below, which a count that is larger than any memory would overflow
  result.assign(first, first + count);
  return result;
}

}  // namespace

any_tensor array(const attest_array& a, const char* name) {
  return {a.data, element_type(a.dtype, name), layout_of(a.rank, a.shape, a.strides, name)};
}

any_result result(const attest_result& a, const char* name) {
  return {a.data, element_type(a.dtype, name), layout_of(a.rank, a.shape, a.strides, name)};
}

attention_options options(const attest_options& o) {
  attention_options result;
  if (o.scale != nullptr) result.scale = *o.scale;
  if (o.softcap != 0) result.softcap = o.softcap;  // a NaN is refused later
  if (given(o.bias)) result.bias = array(o.bias, "bias");
  result.alibi_slopes = numbers<double>(o.alibi_slopes, o.alibi_slopes_count, "alibi_slopes");
  if (given(o.mask)) result.mask = array(o.mask, "mask");
  result.causal = o.causal != 0;
  if (o.window_left != nullptr || o.window_right != nullptr)
    result.window = key_window{position(o.window_left), position(o.window_right)};
  result.corner = choice(o.corner, {causal_corner::top_left, causal_corner::bottom_right}, "corner");
  result.past_keys = position(o.past_keys);
  result.key_lengths = numbers<std::size_t>(o.key_lengths, o.key_lengths_count, "key_lengths");
  result.sinks = numbers<double>(o.sinks, o.sinks_count, "sinks");
  const auto base = choice(o.log_sum_exp_base, {log_sum_exp_base::e, log_sum_exp_base::two}, "log_sum_exp_base");
  const auto empty = choice(o.empty_log_sum_exp, {empty_log_sum_exp::minus_infinity, empty_log_sum_exp::plus_infinity},
                            "empty_log_sum_exp");
  if (base) result.log_sum_exp = log_sum_exp_form{*base, empty};
  if (!base && empty)
    throw attention_error(fault::option, "empty_log_sum_exp is said and log_sum_exp_base is not: say the base, too");
  result.empty_row = choice(o.empty_row, {empty_row_policy::zero, empty_row_policy::nan, empty_row_policy::error},
                            "empty_row");
  return result;
}

unsigned threads(const attest_options& o) {
  if (o.threads == ATTEST_ALL_PROCESSORS) return 0;
  if (o.threads < 0)
    throw argument_error("threads is " + std::to_string(o.threads) +
                         ": it is a number of threads, or ATTEST_ALL_PROCESSORS");
  return o.threads == 0 ? 1 : static_cast<unsigned>(o.threads);
}

}  // namespace attest::c

using namespace attest;

const char* attest_status_name(attest_status status) {
  switch (status) {
    case ATTEST_OK:
      return "ok";
    case ATTEST_SHAPE:
      return "shape";
    case ATTEST_OPTION:
      return "option";
    case ATTEST_UNSUPPORTED:
      return "unsupported";
    case ATTEST_VALUE:
      return "value";
    case ATTEST_OVERFLOW:
      return "overflow";
    case ATTEST_ARGUMENT:
      return "argument";
    case ATTEST_OUT_OF_MEMORY:
      return "out of memory";
    case ATTEST_INTERRUPTED:
      return "interrupted";
    case ATTEST_INTERNAL:
      return "internal";
  }
  return "unknown";
}

const char* attest_last_error(void) { return c::last_error; }

const char* attest_version(void) { return ATTEST_VERSION; }
