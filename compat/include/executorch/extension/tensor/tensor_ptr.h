// SPDX-License-Identifier: BSD-3-Clause
// A tensor with its shape, and perhaps its elements, as one shared object.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include <c10/macros/Macros.h>
#include <c10/util/safe_numerics.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch::extension {

using TensorPtr = std::shared_ptr<executorch::aten::Tensor>;

// Over `data`, which outlives the tensor or is given to `deleter` at its end. Row major unless there is a
// dim order or strides; both have to describe the same dense layout. All of these abort on what does not
// fit together.
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, void* data,
    std::vector<executorch::aten::DimOrderType> dim_order, std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::Device device = executorch::aten::Device(executorch::aten::DeviceType::CPU),
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND,
    std::function<void(void*)> deleter = nullptr);

inline TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, void* data,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::Device device = executorch::aten::Device(executorch::aten::DeviceType::CPU),
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND,
    std::function<void(void*)> deleter = nullptr) {
  return make_tensor_ptr(std::move(sizes), data, {}, {}, type, device, dynamism, std::move(deleter));
}

// With bytes of its own.
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::vector<uint8_t> data,
    std::vector<executorch::aten::DimOrderType> dim_order, std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::vector<uint8_t> data,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), std::move(data), {}, {}, type, dynamism);
}

namespace internal {

// How many elements a shape has; aborts for none.
size_t checked_numel(const std::vector<executorch::aten::SizesType>& sizes);

// The elements as `type`, in bytes; aborts where that would lose what they mean.
template <class T>
std::vector<uint8_t> cast_elements(const std::vector<T>& elements, executorch::aten::ScalarType type) {
  ET_CHECK_MSG(runtime::canCast(runtime::CppTypeToScalarType<T>::value, type),
               "these elements do not become %s", runtime::toString(type));
  struct {
    [[noreturn]] void fail(runtime::Error) { runtime::runtime_abort(); }
  } context;
  std::vector<uint8_t> bytes(elements.size() * runtime::elementSize(type));
  ET_SWITCH_REALHBBF16_AND_UINT_TYPES(type, context, "make_tensor_ptr", CTYPE, [&] {
    auto* to = reinterpret_cast<CTYPE*>(bytes.data());
    for (const auto& element : elements) *to++ = static_cast<CTYPE>(element);
  });
  return bytes;
}

}  // namespace internal

// With elements of its own, converted when `type` is another one.
template <class T = float, executorch::aten::ScalarType deduced_type = runtime::CppTypeToScalarType<T>::value>
inline TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::vector<T> data,
    std::vector<executorch::aten::DimOrderType> dim_order = {},
    std::vector<executorch::aten::StridesType> strides = {}, executorch::aten::ScalarType type = deduced_type,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  ET_CHECK_MSG(data.size() == internal::checked_numel(sizes), "%zu elements for a shape of %zu", data.size(),
               internal::checked_numel(sizes));
  if (type != deduced_type) {
    return make_tensor_ptr(std::move(sizes), internal::cast_elements(data, type), std::move(dim_order),
                           std::move(strides), type, dynamism);
  }
  std::vector<uint8_t> bytes(data.size() * sizeof(T));
  auto* to = reinterpret_cast<T*>(bytes.data());
  for (const auto& element : data) *to++ = element;  // also of vector<bool>
  return make_tensor_ptr(std::move(sizes), std::move(bytes), std::move(dim_order), std::move(strides), type,
                         dynamism);
}

template <class T = float, executorch::aten::ScalarType deduced_type = runtime::CppTypeToScalarType<T>::value>
inline TensorPtr make_tensor_ptr(
    std::vector<T> data, executorch::aten::ScalarType type = deduced_type,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  std::vector<executorch::aten::SizesType> sizes{static_cast<executorch::aten::SizesType>(data.size())};
  return make_tensor_ptr<T, deduced_type>(std::move(sizes), std::move(data), {0}, {1}, type, dynamism);
}

template <class T = float, executorch::aten::ScalarType deduced_type = runtime::CppTypeToScalarType<T>::value>
inline TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::initializer_list<T> list,
    std::vector<executorch::aten::DimOrderType> dim_order = {},
    std::vector<executorch::aten::StridesType> strides = {}, executorch::aten::ScalarType type = deduced_type,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr<T, deduced_type>(std::move(sizes), std::vector<T>(list), std::move(dim_order),
                                          std::move(strides), type, dynamism);
}

template <class T = float, executorch::aten::ScalarType deduced_type = runtime::CppTypeToScalarType<T>::value>
inline TensorPtr make_tensor_ptr(
    std::initializer_list<T> list, executorch::aten::ScalarType type = deduced_type,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr<T, deduced_type>(std::vector<T>(list), type, dynamism);
}

// Without dimensions.
template <class T>
inline TensorPtr make_tensor_ptr(T value) {
  return make_tensor_ptr<T>(std::vector<executorch::aten::SizesType>{}, std::vector<T>{value});
}

// Over another's memory, in the same or another shape of no more elements; the second keeps it alive.
TensorPtr make_tensor_ptr(const executorch::aten::Tensor& tensor,
                          std::vector<executorch::aten::SizesType> sizes = {},
                          std::vector<executorch::aten::DimOrderType> dim_order = {},
                          std::vector<executorch::aten::StridesType> strides = {},
                          std::function<void(void*)> deleter = nullptr);
inline TensorPtr make_tensor_ptr(const TensorPtr& tensor_ptr,
                                 std::vector<executorch::aten::SizesType> sizes = {},
                                 std::vector<executorch::aten::DimOrderType> dim_order = {},
                                 std::vector<executorch::aten::StridesType> strides = {}) {
  return make_tensor_ptr(*tensor_ptr, std::move(sizes), std::move(dim_order), std::move(strides),
                         [tensor_ptr](void*) {});
}

// A copy with elements of its own, perhaps of another type.
TensorPtr clone_tensor_ptr(const executorch::aten::Tensor& tensor, executorch::aten::ScalarType type);
inline TensorPtr clone_tensor_ptr(const executorch::aten::Tensor& tensor) {
  return clone_tensor_ptr(tensor, tensor.scalar_type());
}
inline TensorPtr clone_tensor_ptr(const TensorPtr& tensor, executorch::aten::ScalarType type) {
  return clone_tensor_ptr(*tensor, type);
}
inline TensorPtr clone_tensor_ptr(const TensorPtr& tensor) { return clone_tensor_ptr(*tensor); }

// On another device: the CPU is the only one, and others abort.
TensorPtr clone_tensor_ptr_to(const TensorPtr& tensor, executorch::aten::Device target);

// Errors: as resize_tensor().
ET_NODISCARD runtime::Error resize_tensor_ptr(TensorPtr& tensor,
                                              const std::vector<executorch::aten::SizesType>& sizes);

}  // namespace executorch::extension
