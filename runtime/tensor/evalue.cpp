// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/evalue.h"

namespace rushlight {

const char* to_string(Tag tag) {
  switch (tag) {
    case Tag::None:
      return "None";
    case Tag::Tensor:
      return "Tensor";
    case Tag::String:
      return "String";
    case Tag::Double:
      return "Double";
    case Tag::Int:
      return "Int";
    case Tag::Bool:
      return "Bool";
    case Tag::ListBool:
      return "ListBool";
    case Tag::ListDouble:
      return "ListDouble";
    case Tag::ListInt:
      return "ListInt";
    case Tag::ListTensor:
      return "ListTensor";
    case Tag::ListScalar:
      return "ListScalar";
    case Tag::ListOptionalTensor:
      return "ListOptionalTensor";
  }
  return "unknown";
}

// Double to int64, truncated. Clamping avoids undefined behaviour of out-of-range conversions; the comparison
// is false for NaN.
int64_t EValue::to_int() const {
  if (tag == Tag::Int) return payload.as_int;
  if (tag == Tag::Bool) return payload.as_bool ? 1 : 0;
  const double value = payload.as_double;
  if (!(value >= -0x1p63)) return value < 0 ? INT64_MIN : 0;  // NaN is 0
  return value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MAX;
}

// Fills the items of a list whose elements are values of the method (numbers that a call computed). `values`
// is null for constant lists, whose items need no gathering.
Span<const int64_t> EValue::to_int_list() const {
  const auto* list = payload.as_int_list;
  for (uint32_t i = 0; list->values != nullptr && i < length; ++i) list->items[i] = list->values[i]->to_int();
  return {list->items, length};
}

Span<Tensor> EValue::to_tensor_list() const {
  const auto* list = payload.as_tensor_list;
  for (uint32_t i = 0; list->values != nullptr && i < length; ++i)
    list->items[i] = list->values[i]->to_tensor();
  return {list->items, length};
}

Span<const std::optional<Tensor>> EValue::to_optional_tensor_list() const {
  const auto* list = payload.as_optional_tensor_list;
  for (uint32_t i = 0; list->values != nullptr && i < length; ++i) {
    const EValue* value = list->values[i];
    if (value == nullptr || value->is_none()) {
      list->items[i] = std::nullopt;
    } else {
      list->items[i] = value->to_tensor();
    }
  }
  return {list->items, length};
}

}  // namespace rushlight
