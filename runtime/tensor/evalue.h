// SPDX-License-Identifier: BSD-3-Clause
// EValue is the tagged union that instructions pass: a tensor, number, string, list or None. It has 16 bytes
// on every target. Lists and strings live in the program or in the method's arena; an EValue only points to
// them.
//
//   EValue number(int64_t{3});
//   EValue input(Tensor(&impl));
//   method->set_input(0, input);
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/base/assert.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight {

// The kind of a value; in ExecuTorch's order.
enum class Tag : uint32_t {
  None,
  Tensor,
  String,  // text with a length
  Double,  // float64
  Int,     // int64
  Bool,
  ListBool,
  ListDouble,
  ListInt,
  ListTensor,
  ListScalar,
  ListOptionalTensor,
};

// Returns the enumerator's name ("Tensor").
const char* to_string(Tag tag);

struct EValue;

// A list whose items are other values of the method (for example symbolic sizes, which change between
// executions). Reading the list gathers `values` into `items`. If `values` is null, `items` already holds the
// list.
template <class Item>
struct BoxedList {
  EValue* const* values;  // null for a list of constants; an item is null for an absent optional
  Item* items;
};

// A value. Copying copies the pointer to a list, string or tensor, not its contents; none of them is freed
// with the value.
struct EValue {
  // The value itself or a pointer to it; `tag` selects the valid member. Strings and lists have `length`
  // items.
  union Payload {
    int64_t as_int;
    double as_double;
    bool as_bool;
    Tensor as_tensor;
    const char* as_string;
    const bool* as_bool_list;
    const double* as_double_list;
    const BoxedList<int64_t>* as_int_list;
    const BoxedList<Tensor>* as_tensor_list;
    const BoxedList<std::optional<Tensor>>* as_optional_tensor_list;
    const void* as_indices;  // used by the executor for lists of values that it has not filled yet
    // The same members under the names of ExecuTorch's API (compat/). Its lists are stored differently, so
    // that only null pointers mean the same in both.
    union {
      int64_t as_int;
      double as_double;
      bool as_bool;
      const void* as_string_ptr;
      const void* as_double_list_ptr;
      const void* as_bool_list_ptr;
      const void* as_int_list_ptr;
      const void* as_tensor_list_ptr;
      const void* as_list_optional_tensor_ptr;
    } copyable_union;
    constexpr Payload() : as_int(0) {}
    constexpr explicit Payload(int64_t value) : as_int(value) {}
    constexpr explicit Payload(double value) : as_double(value) {}
    constexpr explicit Payload(bool value) : as_bool(value) {}
    constexpr explicit Payload(Tensor value) : as_tensor(value) {}
    constexpr explicit Payload(const char* value) : as_string(value) {}
  } payload;
  Tag tag = Tag::None;
  uint32_t length = 0;  // number of items of a list, bytes of a string

  // Creates None.
  constexpr EValue() = default;
  // Numbers, a tensor, and a string, which is not copied and must outlive the value.
  constexpr explicit EValue(int64_t value) : payload(value), tag(Tag::Int) {}
  constexpr explicit EValue(double value) : payload(value), tag(Tag::Double) {}
  constexpr explicit EValue(bool value) : payload(value), tag(Tag::Bool) {}
  constexpr explicit EValue(Tensor value) : payload(value), tag(Tag::Tensor) {}
  constexpr explicit EValue(std::string_view value)
      : payload(value.data()), tag(Tag::String), length(static_cast<uint32_t>(value.size())) {}

  // Queries of the tag.
  [[nodiscard]] bool is_none() const { return tag == Tag::None; }
  [[nodiscard]] bool is_tensor() const { return tag == Tag::Tensor; }
  [[nodiscard]] bool is_int() const { return tag == Tag::Int; }
  [[nodiscard]] bool is_double() const { return tag == Tag::Double; }
  [[nodiscard]] bool is_bool() const { return tag == Tag::Bool; }
  [[nodiscard]] bool is_number() const { return is_int() || is_double() || is_bool(); }

  // Accessors. Precondition: the tag matches; the loader has checked it for kernel arguments.
  [[nodiscard]] Tensor to_tensor() const {
    RL_DCHECK(is_tensor());
    return payload.as_tensor;
  }
  // Any number as an integer: a double is truncated and clamped to int64; NaN gives 0. A bool gives 0 or 1.
  [[nodiscard]] int64_t to_int() const;
  // Any number as a double; a bool gives 0 or 1. Integers beyond 2^53 are rounded.
  [[nodiscard]] double to_double() const {
    return tag == Tag::Double ? payload.as_double : static_cast<double>(to_int());
  }
  // A bool, or an integer as a truth value. Precondition: not a double, of which it would test the bits; see
  // is_false() (binding.h).
  [[nodiscard]] bool to_bool() const { return tag == Tag::Bool ? payload.as_bool : payload.as_int != 0; }
  // The number with its kind.
  [[nodiscard]] Scalar to_scalar() const {
    if (tag == Tag::Double) return payload.as_double;
    if (tag == Tag::Bool) return payload.as_bool;
    return payload.as_int;
  }
  // Valid as long as the program or the list's arena.
  [[nodiscard]] std::string_view to_string_view() const { return {payload.as_string, length}; }
  [[nodiscard]] Span<const bool> to_bool_list() const { return {payload.as_bool_list, length}; }
  [[nodiscard]] Span<const double> to_double_list() const { return {payload.as_double_list, length}; }
  // Lists of values are gathered on each call; the span is valid until the next. An item of an optional list
  // that is None or absent gives nullopt.
  [[nodiscard]] Span<const int64_t> to_int_list() const;
  [[nodiscard]] Span<Tensor> to_tensor_list() const;
  [[nodiscard]] Span<const std::optional<Tensor>> to_optional_tensor_list() const;
};

static_assert(sizeof(EValue) == 16);

// Calls f(tensor) for each tensor of a value: itself, or each present item of a list.
template <class F>
void for_each_tensor(const EValue& value, F f) {
  if (value.is_tensor()) return f(value.to_tensor());
  if (value.tag == Tag::ListTensor) {
    for (const Tensor& tensor : value.to_tensor_list()) f(tensor);
  } else if (value.tag == Tag::ListOptionalTensor) {
    for (const std::optional<Tensor>& tensor : value.to_optional_tensor_list()) {
      if (tensor.has_value()) f(*tensor);
    }
  }
}

}  // namespace rushlight
