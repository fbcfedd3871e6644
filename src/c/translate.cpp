#include "c/translate.hpp"

#include <attest/problem/attention_error.hpp>
#include <attest/reference/certified_attention.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

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
  } catch (const memory_error& e) {
    return fail(ATTEST_OUT_OF_MEMORY, e.what());
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
    throw attention_error(fault::shape, name,
                          "an extent is " + std::to_string(e) + ": it has to be 0 or more");
  if (static_cast<std::uint64_t>(e) > std::numeric_limits<std::size_t>::max())
    throw attention_error(fault::shape, name,
                          "an extent of " + std::to_string(e) + " does not fit into memory");
  return static_cast<std::size_t>(e);
}

/// How many elements the array has; nothing past 2^64.
std::optional<std::uint64_t> elements(const layout& l) {
  std::uint64_t count = 1;
  for (const std::size_t e : l.extents) {
    if (e == 0) return 0;
    if (count > UINT64_MAX / e) return std::nullopt;
    count *= e;
  }
  return count;
}

/// The least and the greatest offset of an element of an array that has some; nothing where they leave 2^62.
std::optional<std::pair<std::int64_t, std::int64_t>> reach(const layout& l) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t least = 0;
  std::int64_t greatest = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const std::int64_t stride = l.strides[axis];
    const std::size_t steps = l.extents[axis] - 1;
    if (stride == 0 || steps == 0) continue;
    std::int64_t& end = stride < 0 ? least : greatest;
    const std::int64_t room = stride < 0 ? most + end : most - end;
    if (stride < -most || stride > most ||
        steps > static_cast<std::uint64_t>(room / (stride < 0 ? -stride : stride)))
      return std::nullopt;
    end += stride * static_cast<std::int64_t>(steps);
  }
  return std::pair(least, greatest);
}

/// That memory has such an array.
void check_extent(const layout& l, std::size_t element_size, const char* name) {
  if (elements(l) == 0u) return;
  const auto ends = reach(l);
  const std::uint64_t span = ends ? static_cast<std::uint64_t>(ends->second - ends->first) + 1 : UINT64_MAX;
  constexpr std::uint64_t memory = std::uint64_t{1} << 57;  // what addresses reach today
  if (span > memory / element_size)
    throw attention_error(fault::shape, name,
                          "shape " + shape_text(l) + " and its strides reach further than any memory does");
}

/// That strides of 0 do not claim what no call could go through: see attest_inputs in attest.h.
void check_repetition(const layout& l, const char* name) {
  constexpr std::uint64_t most_in_head = std::uint64_t{1} << 24;
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  const auto refuse = [&](const std::string& what) {
    throw attention_error(fault::shape, name,
                          "shape " + shape_text(l) + " repeats what its memory holds to more than " + what);
  };
  bool repeats[4];
  for (std::size_t axis = 0; axis < 4; ++axis) repeats[axis] = l.extents[axis] > 1 && l.strides[axis] == 0;
  layout head = l;
  head.extents[0] = head.extents[1] = 1;
  const auto in_head = elements(head);
  if ((repeats[2] || repeats[3]) && (!in_head || *in_head > most_in_head))
    refuse("2^24 elements in a head: give fewer positions or coordinates");
  const auto count = elements(l);
  if ((repeats[0] || repeats[1] || repeats[2] || repeats[3]) && (!count || *count > most))
    refuse(
        "2^32 elements: give heads that share keys once, as [B, Hkv, Tk, d], or fewer batch elements at a "
        "time");
}

void check_alignment(const void* data, dtype type, const char* name) {
  const std::size_t size = size_of(type);
  if (reinterpret_cast<std::uintptr_t>(data) % size != 0)
    throw argument_error("array " + std::string(name) + ": its memory is not aligned to its elements of " +
                         std::to_string(size) + " bytes: copy it to memory that is");
}

/// Whether strides put every element at a place of its own. (False as well for some that no slices and
/// transpositions of an array without gaps have.)
bool is_disjoint(const layout& l) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> axes;  // stride and steps
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (l.extents[axis] > 1) {
      const std::int64_t stride = l.strides[axis];
      axes.emplace_back(
          stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride),
          l.extents[axis] - 1);
    }
  std::sort(axes.begin(), axes.end());
  std::uint64_t inner = 0;
  for (const auto& [stride, steps] : axes) {
    if (stride <= inner) return false;
    inner += stride * steps;  // within reach()
  }
  return true;
}

layout layout_of(std::int32_t rank, const std::int64_t* shape, const std::int64_t* strides,
                 const char* name) {
  if (rank < 2 || rank > 4)
    throw attention_error(fault::shape, name,
                          "its rank is " + std::to_string(rank) +
                              ": an array has two, three or four axes, [T, d], [B, T, d] or [B, H, T, d]");
  if (shape == nullptr) throw argument_error("array " + std::string(name) + ": its shape is null");
  const auto e = [&](int axis) { return extent(shape[axis], name); };
  if (strides == nullptr)
    return rank == 2   ? layout{e(0), e(1)}
           : rank == 3 ? layout{e(0), e(1), e(2)}
                       : layout{e(0), e(1), e(2), e(3)};
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
    throw argument_error(std::string(name) + " is " + std::to_string(value) +
                         ", which is none of its values");
  return meanings.begin()[value - 1];
}

std::optional<std::size_t> position(const std::uint64_t* value) {
  if (value == nullptr) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

/// `wanted`: how many there have to be, each one of `what`.
template <class T, class U>
std::vector<T> numbers(const U* first, std::size_t count, const char* name, std::size_t wanted,
                       const char* what) {
  if (first == nullptr && count > 0)
    throw argument_error(std::string(name) + " is null and " + name + "_count is " + std::to_string(count));
  if (first != nullptr && count == 0)
    throw argument_error(std::string(name) + " is given and " + name + "_count is 0");
  // Before anything is read, since the caller's memory may end there.
  if (count != 0 && count != wanted)
    throw attention_error(fault::shape, name,
                          std::string(name) + "_count is " + std::to_string(count) + " and there are " +
                              std::to_string(wanted) + " " + what + ": give one for each");
  return std::vector<T>(first, first + count);
}

}  // namespace

namespace {

any_tensor any_array(const attest_array& a, const char* name) {
  const any_tensor result{a.data, element_type(a.dtype, name), layout_of(a.rank, a.shape, a.strides, name)};
  check_extent(result.where(), size_of(result.type()), name);
  check_alignment(a.data, result.type(), name);
  return result;
}

}  // namespace

any_tensor array(const attest_array& a, const char* name) {
  const any_tensor result = any_array(a, name);
  check_repetition(result.where(), name);
  return result;
}

any_result result(const attest_result& a, const char* name) {
  const any_result result{a.data, element_type(a.dtype, name), layout_of(a.rank, a.shape, a.strides, name)};
  check_extent(result.where(), size_of(result.type()), name);
  // A stride of 0 has its own message, from the library.
  const auto& [extents, strides, rank] = result.where();
  bool repeats = false;
  for (std::size_t axis = 0; axis < 4; ++axis) repeats = repeats || (extents[axis] > 1 && strides[axis] == 0);
  if (repeats) return result;
  check_alignment(a.data, result.type(), name);
  if (elements(result.where()) != 0u && !is_disjoint(result.where()))
    throw attention_error(
        fault::shape, name,
        "shape " + shape_text(result.where()) +
            " and its strides put several elements at one place: every element of a result needs one "
            "of its own");
  return result;
}

places::place places::place_of(const void* data, dtype type, const layout& where, const char* name) {
  const auto* const bytes = static_cast<const unsigned char*>(data);
  const auto count = elements(where);
  const auto ends = count && *count != 0 ? reach(where) : std::nullopt;
  if (data == nullptr || !ends) return {name, nullptr, nullptr, false};
  const auto [least, greatest] = *ends;
  const auto size = static_cast<std::int64_t>(size_of(type));
  return {name, bytes + least * size, bytes + (greatest + 1) * size,
          *count == static_cast<std::uint64_t>(greatest - least) + 1};
}

void places::add_input(const any_tensor& array, const char* name) {
  all_.push_back(place_of(array.data(), array.type(), array.where(), name));
}

void places::add_result(const any_result& array, const char* name) {
  const place added = place_of(array.data(), array.type(), array.where(), name);
  for (const place& other : all_) {
    if (added.first == nullptr || other.first == nullptr) continue;
    const bool both_dense =
        added.dense && other.dense && added.first < other.last && other.first < added.last;
    if (both_dense || added.first == other.first)
      throw argument_error("array " + std::string(name) + " is written to memory that array " + other.name +
                           " has: give it memory of its own");
  }
  all_.push_back(added);
}

attention_options options(const attest_options& o, const layout& q) {
  const std::size_t batch = q.extents[0];
  const std::size_t heads = q.extents[1];
  attention_options result;
  if (o.scale != nullptr) result.scale = *o.scale;
  if (o.softcap != 0) result.softcap = o.softcap;  // a NaN is refused later
  if (given(o.bias)) result.bias = any_array(o.bias, "bias");
  result.alibi_slopes =
      numbers<double>(o.alibi_slopes, o.alibi_slopes_count, "alibi_slopes", heads, "query heads");
  if (given(o.mask)) result.mask = any_array(o.mask, "mask");
  result.causal = o.causal != 0;
  if (o.window_left != nullptr || o.window_right != nullptr)
    result.window = key_window{position(o.window_left), position(o.window_right)};
  result.corner = choice(o.corner, {causal_corner::top_left, causal_corner::bottom_right}, "corner");
  result.past_keys = position(o.past_keys);
  result.key_lengths = numbers<std::size_t>(o.key_lengths, o.key_lengths_count, "key_lengths", batch,
                                            "elements of the batch");
  result.sinks = numbers<double>(o.sinks, o.sinks_count, "sinks", heads, "query heads");
  const auto base =
      choice(o.log_sum_exp_base, {log_sum_exp_base::e, log_sum_exp_base::two}, "log_sum_exp_base");
  const auto empty =
      choice(o.empty_log_sum_exp, {empty_log_sum_exp::minus_infinity, empty_log_sum_exp::plus_infinity},
             "empty_log_sum_exp");
  if (base) result.log_sum_exp = log_sum_exp_form{*base, empty};
  if (!base && empty)
    throw attention_error(fault::option,
                          "empty_log_sum_exp is said and log_sum_exp_base is not: say the base, too");
  result.empty_row = choice(
      o.empty_row, {empty_row_policy::zero, empty_row_policy::nan, empty_row_policy::error}, "empty_row");
  return result;
}

void check_memory(const any_tensor& k, const any_tensor& v) {
  const auto& [batch, heads, keys, width] = k.where().extents;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return;
  const double memory = static_cast<double>(pages) * static_cast<double>(page);
  const double needed = 8 * static_cast<double>(keys) *
                        (static_cast<double>(width) + static_cast<double>(v.where().extents[3]));
  if (needed <= memory) return;
  const auto mebibytes = [](double bytes) {
    return std::to_string(static_cast<std::uint64_t>(bytes / 0x1p20)) + " MiB";
  };
  throw memory_error("array K: shape " + shape_text(k.where()) +
                     ": a copy of the keys and values of one head in binary64 takes " + mebibytes(needed) +
                     ", and the machine has " + mebibytes(memory) + ": give fewer keys");
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
