#include <attest/problem/options.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace attest {

namespace {

bool has_elements(const layout& l) {
  return std::all_of(l.extents.begin(), l.extents.end(), [](std::size_t n) { return n != 0; });
}

std::string number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "infinity" : "-infinity";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

void check_numbers(const char* name, const std::vector<double>& values, std::size_t heads) {
  if (values.empty()) return;
  if (values.size() != heads)
    throw attention_error(fault::shape, name,
                          std::to_string(values.size()) + " of them do not fit " + std::to_string(heads) +
                              " query heads: give one for each");
  for (std::size_t h = 0; h < heads; ++h)
    if (!std::isfinite(values[h]))
      throw attention_error(
          fault::option, name,
          "element " + std::to_string(h) + " is " + number(values[h]) + ": it has to be a finite number");
}

void check_data(const char* name, const any_tensor& array) {
  if (array.data() == nullptr && has_elements(array.where()))
    throw attention_error(
        fault::shape, name,
        "shape " + shape_text(array.where()) + " has elements and the array no memory: give a pointer");
}

void check_positions(const attention_shape& shape, const attention_options& o) {
  if (o.past_keys && (*o.past_keys > shape.keys || shape.queries > shape.keys - *o.past_keys))
    throw attention_error(fault::option,
                          "past_keys = " + std::to_string(*o.past_keys) +
                              " and Tq = " + std::to_string(shape.queries) +
                              " queries do not fit Tk = " + std::to_string(shape.keys) +
                              " keys: Tk counts the past keys, so K and V have to hold them too");
  const bool needs_positions = o.causal || o.window || !o.alibi_slopes.empty();
  for (std::size_t b = 0; b < shape.batch; ++b) {
    const std::size_t keys = o.key_lengths.empty() ? shape.keys : o.key_lengths[b];
    if (o.past_keys && o.corner) {
      const bool agree =
          *o.corner == causal_corner::top_left ? *o.past_keys == 0 : *o.past_keys + shape.queries == keys;
      if (!agree)
        throw attention_error(
            fault::option, "past_keys = " + std::to_string(*o.past_keys) + " contradicts the corner " +
                               (*o.corner == causal_corner::top_left
                                    ? "top_left, which puts query 0 at key 0"
                                    : "bottom_right, which puts the last query at the last key") +
                               " (Tq = " + std::to_string(shape.queries) + ", Tk = " + std::to_string(keys) +
                               "): say one of them");
    }
    if (needs_positions && !o.past_keys && !o.corner && keys != shape.queries)
      throw attention_error(fault::option,
                            std::string(o.causal   ? "causal"
                                        : o.window ? "window"
                                                   : "ALiBi") +
                                " with Tq = " + std::to_string(shape.queries) +
                                " queries and Tk = " + std::to_string(keys) +
                                " keys needs to know where the queries stand: set corner to top_left or "
                                "bottom_right, or past_keys");
  }
}

}  // namespace

std::string to_string(option o) {
  switch (o) {
    case option::scale:
      return "scale";
    case option::softcap:
      return "softcap";
    case option::bias:
      return "bias";
    case option::alibi_slopes:
      return "alibi_slopes";
    case option::mask:
      return "mask";
    case option::causal:
      return "causal";
    case option::window:
      return "window";
    case option::corner:
      return "corner";
    case option::past_keys:
      return "past_keys";
    case option::key_lengths:
      return "key_lengths";
    case option::sinks:
      return "sinks";
    case option::log_sum_exp:
      return "log_sum_exp";
    case option::empty_row:
      return "empty_row";
    case option::grouped_heads:
      return "grouped heads";
  }
  return "unknown";
}

attention_shape checked_shape(const any_tensor& q, const any_tensor& k, const any_tensor& v,
                              const attention_options& o) {
  const auto& qe = q.where().extents;
  const auto& ke = k.where().extents;
  const auto& ve = v.where().extents;
  const attention_shape shape{qe[0], qe[1], ke[1], qe[2], ke[2], qe[3], ve[3]};

  const auto refuse = [](const char* name, const any_tensor& array, const std::string& rest) {
    throw attention_error(fault::shape, name, "shape " + shape_text(array.where()) + " " + rest);
  };
  const auto nonzero = [&](const char* name, const any_tensor& array) {
    const auto& e = array.where().extents;
    if (e[0] == 0 || e[1] == 0 || e[3] == 0)
      refuse(name, array, "has an extent of zero: batch, heads and width have to be at least 1");
  };
  nonzero("Q", q);
  nonzero("K", k);
  nonzero("V", v);
  const auto unlike = [&](const char* name, const any_tensor& array, const char* other_name,
                          const any_tensor& other, const std::string& need) {
    refuse(
        name, array,
        "does not fit " + std::string(other_name) + " of shape " + shape_text(other.where()) + ": " + need);
  };
  if (ke[0] != qe[0]) unlike("K", k, "Q", q, "both need the same batch");
  if (ke[3] != qe[3]) unlike("K", k, "Q", q, "both need the same width d_k");
  if (ve[0] != ke[0]) unlike("V", v, "K", k, "both need the same batch");
  if (ve[1] != ke[1]) unlike("V", v, "K", k, "both need the same number of heads");
  if (ve[2] != ke[2]) unlike("V", v, "K", k, "both need the same number of positions Tk");
  if (qe[1] % ke[1] != 0)
    unlike("K", k, "Q", q,
           "the " + std::to_string(qe[1]) + " query heads have to be a multiple of the " +
               std::to_string(ke[1]) + " key/value heads");
  const auto check_numbers_of = [](const char* name, const any_tensor& array) {
    if (array.type() == dtype::boolean)
      throw attention_error(fault::option, name,
                            "its elements are boolean: Q, K and V hold numbers; bytes that are numbers have the "
                            "type uint8");
    check_data(name, array);
  };
  check_numbers_of("Q", q);
  check_numbers_of("K", k);
  check_numbers_of("V", v);

  if (o.scale && !std::isfinite(*o.scale))
    throw attention_error(fault::option, "scale is " + number(*o.scale) + ": it has to be a finite number");
  if (o.softcap && !(std::isfinite(*o.softcap) && *o.softcap > 0))
    throw attention_error(fault::option,
                          "softcap is " + number(*o.softcap) +
                              ": it has to be a positive number; leave it out for scores without a cap");
  check_numbers("alibi_slopes", o.alibi_slopes, shape.query_heads);
  check_numbers("sinks", o.sinks, shape.query_heads);

  const std::array<std::size_t, 4> scores{shape.batch, shape.query_heads, shape.queries, shape.keys};
  if (o.mask) {
    if (o.mask->type() != dtype::boolean)
      throw attention_error(fault::option, "mask",
                            "its elements are " + to_string(o.mask->type()) +
                                ": a mask is boolean (true: the query sees the key); give numbers to "
                                "add to the scores as bias");
    check_data("mask", broadcast(*o.mask, scores, "mask"));
  }
  if (o.bias) {
    switch (o.bias->type()) {
      case dtype::float8_e4m3fn:
      case dtype::float8_e5m2:
      case dtype::float8_e4m3fnuz:
      case dtype::float8_e5m2fnuz:
      case dtype::bfloat16:
      case dtype::binary16:
      case dtype::binary32:
      case dtype::binary64:
        break;
      default:
        throw attention_error(fault::option, "bias",
                              "its elements are " + to_string(o.bias->type()) +
                                  ": a bias holds floats; give a boolean array as mask");
    }
    check_data("bias", broadcast(*o.bias, scores, "bias"));
  }
  if (!o.key_lengths.empty()) {
    if (o.key_lengths.size() != shape.batch)
      throw attention_error(fault::shape, "key_lengths",
                            std::to_string(o.key_lengths.size()) + " of them do not fit a batch of " +
                                std::to_string(shape.batch) + ": give one for each element of the batch");
    for (std::size_t b = 0; b < shape.batch; ++b)
      if (o.key_lengths[b] > shape.keys)
        throw attention_error(fault::option, "key_lengths",
                              "element " + std::to_string(b) + " is " + std::to_string(o.key_lengths[b]) +
                                  ", and K of shape " + shape_text(k.where()) + " holds " +
                                  std::to_string(shape.keys) + " keys: a length is at most that");
  }
  check_positions(shape, o);
  return shape;
}

void supports_only(const char* kernel, std::initializer_list<option> taken, const attention_shape& shape,
                   const attention_options& o) {
  const auto check = [&](option name, bool set) {
    if (set && std::find(taken.begin(), taken.end(), name) == taken.end())
      throw attention_error(fault::unsupported,
                            "the kernel `" + std::string(kernel) + "` does not take " + to_string(name) +
                                ": leave it out or use another kernel (`stable` takes every option)");
  };
  check(option::scale, o.scale.has_value());
  check(option::softcap, o.softcap.has_value());
  check(option::bias, o.bias.has_value());
  check(option::alibi_slopes, !o.alibi_slopes.empty());
  check(option::mask, o.mask.has_value());
  check(option::causal, o.causal);
  check(option::window, o.window.has_value());
  check(option::corner, o.corner.has_value());
  check(option::past_keys, o.past_keys.has_value());
  check(option::key_lengths, !o.key_lengths.empty());
  check(option::sinks, !o.sinks.empty());
  check(option::log_sum_exp, o.log_sum_exp.has_value());
  check(option::empty_row, o.empty_row.has_value());
  check(option::grouped_heads, shape.query_heads != shape.key_value_heads);
}

void check_result(const char* name, const layout& array, const void* data,
                  const std::array<std::size_t, 4>& shape) {
  if (array.extents != shape) {
    layout wanted;
    wanted.extents = shape;
    throw attention_error(fault::shape, name,
                          "shape " + shape_text(array) + " is not the shape of the result, " +
                              shape_text(wanted) + ": give an array of that shape");
  }
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (array.strides[axis] == 0 && shape[axis] > 1)
      throw attention_error(fault::shape, name,
                            "axis " + std::to_string(axis) + " of its four has stride 0 and extent " +
                                std::to_string(shape[axis]) +
                                ": every element of a result needs a place of its own");
  if (data == nullptr && has_elements(array))
    throw attention_error(
        fault::shape, name,
        "shape " + shape_text(array) + " has elements and the array no memory: give a pointer");
}

void check_log_sum_exp(const attention_options& o, bool has_array) {
  if (has_array && !o.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp",
                          "its base is not said: set options.log_sum_exp to base e or two");
  if (!has_array && o.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp",
                          "the options ask for it and there is no array to write it to");
}

}  // namespace attest
