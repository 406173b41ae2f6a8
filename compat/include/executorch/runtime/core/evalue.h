// SPDX-License-Identifier: BSD-3-Clause
// EValue, a value of any kind that operators take: rushlight's, with the official members. Accessors check
// the tag: the to functions abort on another kind of value or a null list, the tryTo functions return
// InvalidType or InvalidState instead. Nothing is converted: toDouble() of an int aborts.
//
//   EValue value(int64_t{3});
//   if (value.isInt()) use(value.toInt());
//   Result<Tensor> tensor = value.tryToTensor();    // InvalidType
//
// The payload differs from ExecuTorch's: only numbers, and null as a pointer, can be read through
// payload.copyable_union.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/platform/assert.h>

#ifdef USE_ATEN_LIB
#include "compat/detail/aten_value.h"
#else
#include "runtime/tensor/evalue.h"
#endif

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

struct EValue;

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace executorch::runtime::internal RUSHLIGHT_TENSOR_MODE {

#ifdef USE_ATEN_LIB

// The data of a value, and a list of values.
using ValueBase = rushlight::compat::AtenValue;
template <class T>
using ItemOf = T;
template <class T>
using BoxedList = rushlight::compat::AtenList<T>;

#else

using ValueBase = rushlight::EValue;

// rushlight's item type of a list: the official Tensor is derived from it and has the same size, so that both
// read the same array.
template <class T>
struct ListItem {
  using type = T;
};
template <>
struct ListItem<executorch::aten::Tensor> {
  using type = rushlight::Tensor;
};
template <>
struct ListItem<std::optional<executorch::aten::Tensor>> {
  using type = std::optional<rushlight::Tensor>;
};
static_assert(sizeof(std::optional<executorch::aten::Tensor>) == sizeof(std::optional<rushlight::Tensor>));

// The type in rushlight's list for items of type T, and that list.
template <class T>
using ItemOf = typename ListItem<T>::type;

template <class T>
using BoxedList = rushlight::BoxedList<ItemOf<T>>;

#endif

// Tells whether a type of EValue is an optional one.
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

}  // namespace executorch::runtime::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// A list whose items are other values, for example symbolic sizes, which change between executions; reading
// it gathers them.
template <class T>
class BoxedEvalueList : private internal::BoxedList<T> {
 public:
  // An empty list.
  BoxedEvalueList() : internal::BoxedList<T>{nullptr, nullptr} {}
  // `wrapped_vals` is an array of `size` pointers to the values, `unwrapped_vals` one of `size` items, which
  // each reading overwrites. Both must outlive the list, and are not owned. A null value is an absent item;
  // only lists of optional items may have one. Aborts for null arrays or a negative size.
  BoxedEvalueList(EValue** wrapped_vals, T* unwrapped_vals, int size);

  // The items, valid until the next reading. get() aborts if a value is of another kind, and tryGet() returns
  // InvalidType, or InvalidState for a null value where no item may be absent.
  executorch::aten::ArrayRef<T> get() const;
  Result<executorch::aten::ArrayRef<T>> tryGet() const;
  // Does nothing: items need no destructor. For code that calls it.
  void destroy_elements() {}

 private:
  friend struct EValue;
  uint32_t size_ = 0;
};

// 16 bytes (24 in ATen mode, where it owns a reference to a tensor): a number, a tensor handle, or a pointer
// to a string or list, with its length. Copies are shallow: they refer to the same tensor, string or list,
// which must outlive all of them. The default is None.
struct EValue : public internal::ValueBase {
  using Tensor = executorch::aten::Tensor;

  // None; a number of each kind. An int literal is ambiguous: write int64_t{1}.
  EValue() = default;
  EValue(int64_t value) : internal::ValueBase(value) {}
  EValue(double value) : internal::ValueBase(value) {}
  EValue(bool value) : internal::ValueBase(value) {}
  // Becomes an int, double or bool, by the scalar's kind.
  EValue(executorch::aten::Scalar value);
  EValue(Tensor value) : internal::ValueBase(value) {}
  // A string; a list of bools; a list of doubles. The elements are referred to, not copied, and must outlive
  // the value; the ArrayRef object itself need not (in ExecuTorch it must). A string may contain zero bytes.
  // Aborts for null, or 2^32 elements or more.
  EValue(executorch::aten::ArrayRef<char>* value);
  EValue(executorch::aten::ArrayRef<bool>* value);
  EValue(executorch::aten::ArrayRef<double>* value);
  // Lists of values, which reading gathers. The object of the list must outlive the value. Aborts for null.
  EValue(BoxedEvalueList<int64_t>* value) { set_list(Tag::ListInt, payload.as_int_list, value); }
  EValue(BoxedEvalueList<Tensor>* value) { set_list(Tag::ListTensor, payload.as_tensor_list, value); }
  EValue(BoxedEvalueList<std::optional<Tensor>>* value) {
    set_list(Tag::ListOptionalTensor, payload.as_optional_tensor_list, value);
  }
  // The same value under the other type, not a copy of a list.
  explicit EValue(const internal::ValueBase& value) : internal::ValueBase(value) {}
  // A smart pointer to any of these types. Takes the value, not the ownership. Aborts for null.
  template <class T, class = std::enable_if_t<std::is_convertible_v<decltype(*std::declval<T>()), EValue>>>
  EValue(T&& pointer) {
    ET_CHECK_MSG(pointer != nullptr, "Pointer is null: expected a value");
    *this = *std::forward<T>(pointer);
  }
  // Deleted: a pointer of another type would otherwise convert to bool.
  template <class T>
  explicit EValue(T* value) = delete;

  // Queries of the tag. isScalar() is true for an int, a double and a bool.
  bool isNone() const { return tag == Tag::None; }
  bool isInt() const { return tag == Tag::Int; }
  bool isDouble() const { return tag == Tag::Double; }
  bool isBool() const { return tag == Tag::Bool; }
  bool isScalar() const { return is_number(); }
  bool isTensor() const { return tag == Tag::Tensor; }
  bool isString() const { return tag == Tag::String; }
  bool isIntList() const { return tag == Tag::ListInt; }
  bool isBoolList() const { return tag == Tag::ListBool; }
  bool isDoubleList() const { return tag == Tag::ListDouble; }
  bool isTensorList() const { return tag == Tag::ListTensor; }
  bool isListOptionalTensor() const { return tag == Tag::ListOptionalTensor; }

  // The number; a value of another kind aborts, also an int that holds a truth value for toBool().
  int64_t toInt() const { return expect(Tag::Int), payload.as_int; }
  double toDouble() const { return expect(Tag::Double), payload.as_double; }
  bool toBool() const { return expect(Tag::Bool), payload.as_bool; }
  // A number of any kind, with its kind.
  executorch::aten::Scalar toScalar() const;
  // The tensor: a new handle if the value is a temporary, otherwise a reference into this object.
  Tensor toTensor() && { return expect(Tag::Tensor), tensor(); }
  Tensor& toTensor() & { return expect(Tag::Tensor), tensor(); }
  const Tensor& toTensor() const& { return expect(Tag::Tensor), tensor(); }
  // The bytes of the string, without a terminator, where its maker keeps them.
  std::string_view toString() const { return expect(Tag::String, "string"), to_string_view(); }
  // The ints, gathered into the list's items at each call, so that changed values are read again. Valid until
  // the next call.
  executorch::aten::ArrayRef<int64_t> toIntList() const { return expect(Tag::ListInt, "int list"), ints(); }
  // The elements of the list, in place.
  executorch::aten::ArrayRef<bool> toBoolList() const {
    return expect(Tag::ListBool, "bool list"), to_bool_list();
  }
  executorch::aten::ArrayRef<double> toDoubleList() const {
    return expect(Tag::ListDouble, "double list"), to_double_list();
  }
  // The tensors, and the tensors or absent ones; gathered as the ints are. The list is constant, the tensors'
  // elements are writable.
  executorch::aten::ArrayRef<Tensor> toTensorList() const {
    return expect(Tag::ListTensor, "tensor list"), tensors();
  }
  executorch::aten::ArrayRef<std::optional<Tensor>> toListOptionalTensor() const {
    return expect(Tag::ListOptionalTensor, "list of optional tensors"), optional_tensors();
  }
  // Enumerations are stored as ints, and not validated. A device has only a kind: its index is -1.
  executorch::aten::ScalarType toScalarType() const { return from_int<executorch::aten::ScalarType>(); }
  executorch::aten::MemoryFormat toMemoryFormat() const { return from_int<executorch::aten::MemoryFormat>(); }
  executorch::aten::Layout toLayout() const { return from_int<executorch::aten::Layout>(); }
  executorch::aten::Device toDevice() const {
    return executorch::aten::Device(from_int<executorch::aten::DeviceType>(), -1);
  }

  // The same with a Result. Errors: InvalidType (another kind, or a list of ints with an item of another
  // kind), InvalidState (the pointer to a string or list is null).
  Result<int64_t> tryToInt() const { return try_as<int64_t>(); }
  Result<double> tryToDouble() const { return try_as<double>(); }
  Result<bool> tryToBool() const { return try_as<bool>(); }
  Result<executorch::aten::Scalar> tryToScalar() const { return try_as<executorch::aten::Scalar>(); }
  Result<Tensor> tryToTensor() const { return try_as<Tensor>(); }
  Result<std::string_view> tryToString() const { return try_as<std::string_view>(); }
  Result<executorch::aten::ArrayRef<int64_t>> tryToIntList() const {
    return try_as<executorch::aten::ArrayRef<int64_t>>();
  }
  Result<executorch::aten::ArrayRef<bool>> tryToBoolList() const {
    return try_as<executorch::aten::ArrayRef<bool>>();
  }
  Result<executorch::aten::ArrayRef<double>> tryToDoubleList() const {
    return try_as<executorch::aten::ArrayRef<double>>();
  }
  Result<executorch::aten::ArrayRef<Tensor>> tryToTensorList() const {
    return try_as<executorch::aten::ArrayRef<Tensor>>();
  }
  Result<executorch::aten::ArrayRef<std::optional<Tensor>>> tryToListOptionalTensor() const {
    return try_as<executorch::aten::ArrayRef<std::optional<Tensor>>>();
  }
  Result<executorch::aten::ScalarType> tryToScalarType() const {
    return try_as<executorch::aten::ScalarType>();
  }
  Result<executorch::aten::MemoryFormat> tryToMemoryFormat() const {
    return try_as<executorch::aten::MemoryFormat>();
  }
  Result<executorch::aten::Layout> tryToLayout() const { return try_as<executorch::aten::Layout>(); }
  Result<executorch::aten::Device> tryToDevice() const { return try_as<executorch::aten::Device>(); }

  // Access by type: int64_t, double, bool, Scalar, Tensor, std::string_view, an ArrayRef of int64_t, bool,
  // double, Tensor or std::optional<Tensor>, ScalarType, MemoryFormat, Layout, Device, or a std::optional of
  // these. Others do not compile. A Tensor is returned as a reference if the value is an lvalue.
  template <class T>
  T to() && {
    return read<T>();
  }
  template <class T>
  std::conditional_t<std::is_same_v<T, Tensor>, const T&, T> to() const& {
    if constexpr (std::is_same_v<T, Tensor>) {
      return toTensor();
    } else {
      return read<T>();
    }
  }
  template <class T>
  std::conditional_t<std::is_same_v<T, Tensor>, T&, T> to() & {
    if constexpr (std::is_same_v<T, Tensor>) {
      return toTensor();
    } else {
      return read<T>();
    }
  }
  template <class T>
  Result<T> tryTo() const {
    return try_as<T>();
  }

  // None gives an empty optional; another value must be a T.
  template <class T>
  std::optional<T> toOptional() const {
    if (isNone()) return std::nullopt;
    return read<T>();
  }
  template <class T>
  Result<std::optional<T>> tryToOptional() const {
    if (isNone()) return std::optional<T>();
    auto value = try_as<T>();
    if (!value.ok()) return value.error();
    return std::optional<T>(std::move(*value));
  }

 private:
  // Abort with a message unless the value has this kind.
  void expect(Tag expected) const;
  // The same for null pointers in the payload; `name` appears in the message.
  void expect(Tag expected, const char* name) const;

  Tensor& tensor() const {
    static_assert(sizeof(Tensor) == sizeof(payload.as_tensor));
    return const_cast<Tensor&>(reinterpret_cast<const Tensor&>(payload.as_tensor));
  }
  executorch::aten::ArrayRef<int64_t> ints() const;
  executorch::aten::ArrayRef<Tensor> tensors() const;
  executorch::aten::ArrayRef<std::optional<Tensor>> optional_tensors() const;
  template <class T>
  T from_int() const {
    return static_cast<T>(toInt());
  }

  template <class T>
  void set_list(Tag kind, const internal::BoxedList<T>*& member, BoxedEvalueList<T>* value) {
    ET_CHECK_MSG(value != nullptr, "the list's pointer cannot be null");
    member = value;
    tag = kind;
    length = value->size_;
  }
  // Returns true if the value can be read as T.
  template <class T>
  bool holds() const;
  template <class T>
  T read() const;
  template <class T>
  Result<T> try_as() const;
};

static_assert(sizeof(EValue) == sizeof(internal::ValueBase));

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace torch::executor {
using ::executorch::runtime::BoxedEvalueList;
using ::executorch::runtime::EValue;
}  // namespace torch::executor

#include "compat/detail/evalue_read.h"
