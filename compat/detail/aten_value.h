// SPDX-License-Identifier: BSD-3-Clause
// The data of an EValue in ATen mode: rushlight::EValue's members, with a tensor of PyTorch, which the value
// owns a reference to. Lists and strings are referred to, as in rushlight's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <executorch/runtime/platform/assert.h>

#include "runtime/base/span.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::compat {

struct AtenValue;

// A list whose items are other values; see rushlight::BoxedList.
template <class Item>
struct AtenList {
  AtenValue* const* values;  // null if `items` already hold the list
  Item* items;
};

struct AtenValue {
  struct Payload {
    at::Tensor as_tensor;
    union {
      int64_t as_int = 0;
      double as_double;
      bool as_bool;
      const char* as_string;
      const bool* as_bool_list;
      const double* as_double_list;
      const AtenList<int64_t>* as_int_list;
      const AtenList<at::Tensor>* as_tensor_list;
      const AtenList<std::optional<at::Tensor>>* as_optional_tensor_list;
      const void* as_indices;
      // The same members under the official names.
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
    };
  } payload;
  Tag tag = Tag::None;
  uint32_t length = 0;

  AtenValue() = default;
  explicit AtenValue(int64_t value) : tag(Tag::Int) { payload.as_int = value; }
  explicit AtenValue(double value) : tag(Tag::Double) { payload.as_double = value; }
  explicit AtenValue(bool value) : tag(Tag::Bool) { payload.as_bool = value; }
  explicit AtenValue(at::Tensor value) : tag(Tag::Tensor) { payload.as_tensor = std::move(value); }
  AtenValue(const AtenValue&) = default;
  AtenValue& operator=(const AtenValue&) = default;
  // The moved-from value is None.
  AtenValue(AtenValue&& other) noexcept
      : payload(std::move(other.payload)), tag(std::exchange(other.tag, Tag::None)), length(other.length) {}
  AtenValue& operator=(AtenValue&& other) noexcept {
    payload = std::move(other.payload);
    length = other.length;
    tag = other.tag;
    if (this != &other) other.tag = Tag::None;
    return *this;
  }

  // The conversions of numbers, as in rushlight::EValue.
  [[nodiscard]] bool is_number() const { return tag == Tag::Int || tag == Tag::Double || tag == Tag::Bool; }
  [[nodiscard]] int64_t to_int() const { return number().to_int(); }
  [[nodiscard]] double to_double() const { return number().to_double(); }
  [[nodiscard]] bool to_bool() const { return number().to_bool(); }
  [[nodiscard]] c10::Scalar to_scalar() const {
    if (tag == Tag::Double) return payload.as_double;
    if (tag == Tag::Bool) return payload.as_bool;
    return payload.as_int;
  }
  // Strings and lists; lists of values are gathered on each call.
  [[nodiscard]] std::string_view to_string_view() const { return {payload.as_string, length}; }
  [[nodiscard]] Span<const bool> to_bool_list() const { return {payload.as_bool_list, length}; }
  [[nodiscard]] Span<const double> to_double_list() const { return {payload.as_double_list, length}; }
  [[nodiscard]] Span<const int64_t> to_int_list() const {
    const auto& list = *payload.as_int_list;
    for (uint32_t i = 0; list.values != nullptr && i < length; ++i) {
      ET_CHECK(list.values[i] != nullptr && list.values[i]->tag == Tag::Int);
      list.items[i] = list.values[i]->payload.as_int;
    }
    return {list.items, length};
  }
  [[nodiscard]] Span<const at::Tensor> to_tensor_list() const {
    const auto& list = *payload.as_tensor_list;
    for (uint32_t i = 0; list.values != nullptr && i < length; ++i) {
      ET_CHECK(list.values[i] != nullptr && list.values[i]->tag == Tag::Tensor);
      list.items[i] = list.values[i]->payload.as_tensor;
    }
    return {list.items, length};
  }

 private:
  // A number as rushlight's value, whose conversions it shares.
  [[nodiscard]] EValue number() const {
    if (tag == Tag::Double) return EValue(payload.as_double);
    if (tag == Tag::Bool) return EValue(payload.as_bool);
    return EValue(payload.as_int);
  }
};

}  // namespace rushlight::compat
