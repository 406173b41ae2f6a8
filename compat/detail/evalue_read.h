// SPDX-License-Identifier: BSD-3-Clause
// Typed access to EValue; included at the end of executorch/runtime/core/evalue.h, whose class it completes.
//
// Two families: to() and its relatives abort on another kind of value or a null pointer, tryTo() and its
// relatives return InvalidType or InvalidState. The runtime's kernels use neither: the loader checks their
// arguments once.
#pragma once

#include <executorch/runtime/core/evalue.h>

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// Both arrays have `size` items and must outlive the list; `unwrapped_vals` is overwritten by each read.
// Aborts if a pointer is null or the size negative.
//
//   EValue one(int64_t{1}), two(int64_t{2});
//   EValue* values[] = {&one, &two};
//   int64_t items[2];
//   BoxedEvalueList<int64_t> list(values, items, 2);
//   EValue(&list).toIntList();  // gathers {1, 2} into `items`
template <class T>
BoxedEvalueList<T>::BoxedEvalueList(EValue** wrapped_vals, T* unwrapped_vals, int size)
    : internal::BoxedList<T>{reinterpret_cast<internal::ValueBase* const*>(wrapped_vals),
                             reinterpret_cast<internal::ItemOf<T>*>(unwrapped_vals)},
      size_(static_cast<uint32_t>(size)) {
  ET_CHECK_MSG(wrapped_vals != nullptr, "wrapped_vals cannot be null");
  ET_CHECK_MSG(unwrapped_vals != nullptr, "unwrapped_vals cannot be null");
  ET_CHECK_MSG(size >= 0, "size cannot be negative: it is %d", size);
}

// Reads each value into the array of items and returns the array. The result changes at the next read, so it
// is not for two threads. A null value or None is an empty optional in a list of optional tensors. Errors:
// InvalidState (a null item in another list), InvalidType (an item of another kind).
template <class T>
Result<executorch::aten::ArrayRef<T>> BoxedEvalueList<T>::tryGet() const {
  // The items are rushlight's tensors; the official class adds functions only.
  T* items = reinterpret_cast<T*>(this->items);
  for (uint32_t i = 0; this->values != nullptr && i < size_; ++i) {
    const auto* value = static_cast<const EValue*>(this->values[i]);
    if constexpr (internal::IsOptional<T>::value) {
      if (value == nullptr) {
        items[i] = std::nullopt;
        continue;
      }
    }
    if (value == nullptr) return Error::InvalidState;
    auto item = value->template tryTo<T>();
    if (!item.ok()) return item.error();
    items[i] = *item;
  }
  return executorch::aten::ArrayRef<T>(items, static_cast<size_t>(size_));
}

// Aborts where tryGet() returns an error.
template <class T>
executorch::aten::ArrayRef<T> BoxedEvalueList<T>::get() const {
  return tryGet().get();
}

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace executorch::runtime::internal RUSHLIGHT_TENSOR_MODE {

// The address of the items; not null even if there are none, because null means a missing list.
template <class T>
const T* data_of(executorch::aten::ArrayRef<T> list) {
  static constexpr T kNowhere{};
  return list.data() == nullptr ? &kNowhere : list.data();
}

// The number of items as an EValue holds it. Aborts if it does not fit.
inline uint32_t length_of(size_t size) {
  const auto length = static_cast<uint32_t>(size);
  ET_CHECK_MSG(length == size, "list: expected fewer than 2^32 items, got %zu", size);
  return length;
}

// Names for messages: "a tensor", "an int".
constexpr const char* name_of(Tag tag) {
  constexpr const char* kNames[] = {"none",     "tensor",      "string",      "double",
                                    "int",      "bool",        "bool list",   "double list",
                                    "int list", "tensor list", "scalar list", "list of optional tensors"};
  const auto index = static_cast<size_t>(tag);
  return index < sizeof kNames / sizeof kNames[0] ? kNames[index] : "value of an unknown kind";
}
constexpr const char* article_of(Tag tag) { return tag == Tag::Int || tag == Tag::ListInt ? "n" : ""; }

}  // namespace executorch::runtime::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// The kind of the scalar becomes the tag.
inline EValue::EValue(executorch::aten::Scalar value) {
  if (value.isFloatingPoint()) {
    *this = value.to<double>();
  } else if (value.isBoolean()) {
    *this = value.to<bool>();
  } else {
    *this = value.to<int64_t>();
  }
}

// Strings and lists: only the items must outlive the value, not the ArrayRef. A string needs no zero byte.
// Null aborts.
inline EValue::EValue(executorch::aten::ArrayRef<char>* value) {
  ET_CHECK_MSG(value != nullptr, "the string's pointer cannot be null");
  tag = Tag::String;
  payload.as_string = internal::data_of(*value);
  length = internal::length_of(value->size());
}
inline EValue::EValue(executorch::aten::ArrayRef<bool>* value) {
  ET_CHECK_MSG(value != nullptr, "the list's pointer cannot be null");
  tag = Tag::ListBool;
  payload.as_bool_list = internal::data_of(*value);
  length = internal::length_of(value->size());
}
inline EValue::EValue(executorch::aten::ArrayRef<double>* value) {
  ET_CHECK_MSG(value != nullptr, "the list's pointer cannot be null");
  tag = Tag::ListDouble;
  payload.as_double_list = internal::data_of(*value);
  length = internal::length_of(value->size());
}

// Aborts, naming both kinds, unless the tag is `expected`.
inline void EValue::expect(Tag expected) const {
  ET_CHECK_MSG(tag == expected, "EValue is not a%s %s, but %s", internal::article_of(expected),
               internal::name_of(expected), internal::name_of(tag));
}

// For strings and lists, whose payload is a pointer: a null one is no list, unlike an empty list.
inline void EValue::expect(Tag expected, [[maybe_unused]] const char* name) const {
  expect(expected);
  ET_CHECK_MSG(payload.as_indices != nullptr, "%s pointer is null", name);
}

// Any number: the scalar keeps its kind.
inline executorch::aten::Scalar EValue::toScalar() const {
  ET_CHECK_MSG(isScalar(), "EValue: expected a number, got kind %d", static_cast<int>(tag));
  return executorch::aten::Scalar(to_scalar());
}

// Lists of values: gathered into the list's items by each call, valid until the next.
inline executorch::aten::ArrayRef<int64_t> EValue::ints() const { return to_int_list(); }

inline executorch::aten::ArrayRef<executorch::aten::Tensor> EValue::tensors() const {
  const auto list = to_tensor_list();
  return {static_cast<const Tensor*>(list.data()), list.size()};
}

// Copied here: the two optional types have the same layout but are distinct types. Aborts on an item that is
// neither a tensor nor None.
inline executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>> EValue::optional_tensors() const {
  const auto* list = payload.as_optional_tensor_list;
  auto* items = reinterpret_cast<std::optional<Tensor>*>(list->items);
  // Without `values` the items already hold the list.
  for (uint32_t i = 0; list->values != nullptr && i < length; ++i) {
    const auto* value = static_cast<const EValue*>(list->values[i]);
    if (value == nullptr || value->isNone()) {
      items[i].reset();
    } else {
      items[i] = value->toTensor();
    }
  }
  return {items, static_cast<size_t>(length)};
}

// Compares the tag only. An optional holds T or None; enumerations are stored as integers.
template <class T>
bool EValue::holds() const {
  namespace aten = executorch::aten;
  if constexpr (internal::IsOptional<T>::value) {
    return isNone() || holds<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, double>) {
    return isDouble();
  } else if constexpr (std::is_same_v<T, bool>) {
    return isBool();
  } else if constexpr (std::is_same_v<T, aten::Scalar>) {
    return isScalar();
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return isTensor();
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return isString();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<int64_t>>) {
    return isIntList();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<bool>>) {
    return isBoolList();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<double>>) {
    return isDoubleList();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<Tensor>>) {
    return isTensorList();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<std::optional<Tensor>>>) {
    return isListOptionalTensor();
  } else {  // int64_t, and enumerations
    return isInt();
  }
}

// Precondition: holds<T>(); aborts otherwise.
template <class T>
T EValue::read() const {
  namespace aten = executorch::aten;
  if constexpr (internal::IsOptional<T>::value) {
    return toOptional<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return toInt();
  } else if constexpr (std::is_same_v<T, double>) {
    return toDouble();
  } else if constexpr (std::is_same_v<T, bool>) {
    return toBool();
  } else if constexpr (std::is_same_v<T, aten::Scalar>) {
    return toScalar();
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return toTensor();
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return toString();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<int64_t>>) {
    return toIntList();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<bool>>) {
    return toBoolList();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<double>>) {
    return toDoubleList();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<Tensor>>) {
    return toTensorList();
  } else if constexpr (std::is_same_v<T, aten::ArrayRef<std::optional<Tensor>>>) {
    return toListOptionalTensor();
  } else if constexpr (std::is_same_v<T, aten::Device>) {
    return toDevice();
  } else {
    static_assert(std::is_same_v<T, aten::ScalarType> || std::is_same_v<T, aten::MemoryFormat> ||
                      std::is_same_v<T, aten::Layout>,
                  "not a type of EValue");
    return from_int<T>();
  }
}

// Also checks what read() would abort on: null pointers, and for lists of integers the kind of each item. Not
// the items of lists of tensors.
template <class T>
Result<T> EValue::try_as() const {
  // The kind first: the payload of another kind need not be a pointer.
  if (!holds<T>()) return Error::InvalidType;
  // Numbers and tensors are in the value, everything else behind a pointer.
  const bool is_pointer = tag == Tag::String || (tag >= Tag::ListBool && tag <= Tag::ListOptionalTensor);
  if (is_pointer && payload.as_indices == nullptr) return Error::InvalidState;
  if constexpr (std::is_same_v<T, executorch::aten::ArrayRef<int64_t>>) {
    // Each item is another value, which may have changed its kind.
    for (uint32_t i = 0; payload.as_int_list->values != nullptr && i < length; ++i) {
      if (payload.as_int_list->values[i]->tag != Tag::Int) return Error::InvalidType;
    }
  }
  return read<T>();
}

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE
