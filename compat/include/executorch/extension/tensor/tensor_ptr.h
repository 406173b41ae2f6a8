// SPDX-License-Identifier: BSD-3-Clause
// A tensor with its shape, and optionally its elements, as one shared object.
//
//   auto a = make_tensor_ptr({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});  // owns a copy
//   auto b = make_tensor_ptr({2, 3}, buffer);                                // refers to `buffer`
//   module.forward(a);
//
// There are no error codes here: as in ExecuTorch, wrong arguments are programming errors and abort. Shapes
// are dynamic by default: resize_tensor_ptr() may shrink them and grow them again.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <vector>

#include <c10/macros/Macros.h>
#include <c10/util/safe_numerics.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

// The handle, the sizes, the dim order, the strides and owned memory live as long as the last copy of the
// pointer. A copy of the Tensor behind it does not keep them alive.
using TensorPtr = std::shared_ptr<executorch::aten::Tensor>;

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE

namespace executorch::extension::internal RUSHLIGHT_TENSOR_MODE {

// The parts from which a tensor is assembled. Empty `dim_order` and `strides` are derived.
struct TensorParts {
  std::vector<executorch::aten::SizesType> sizes;
  std::vector<executorch::aten::DimOrderType> dim_order;
  std::vector<executorch::aten::StridesType> strides;
  executorch::aten::ScalarType type = executorch::aten::ScalarType::Float;
  executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND;
  executorch::aten::Device device{executorch::aten::DeviceType::CPU};
  void* data = nullptr;
  // Called with the tensor's memory when the last pointer is destroyed; may be null.
  std::function<void(void*)> deleter = nullptr;
};

// Checks the parts, derives missing ones and creates the tensor. Aborts if they do not match: a negative
// size, more than INT32_MAX elements, a dim order that is no permutation, strides that are not dense.
TensorPtr assemble(TensorParts parts);
// Uses `bytes` as memory, as many as the elements have; they replace data and deleter of `parts`.
TensorPtr assemble(TensorParts parts, std::vector<uint8_t> bytes);
// Copies the elements of `range`, which must have as many as the sizes give, from type T to parts.type.
// Aborts if runtime::canCast() excludes the conversion: floating point to integers, or another type to bool.
template <class T, class Range>
TensorPtr assemble_from(TensorParts parts, const Range& range);

}  // namespace executorch::extension::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

// A tensor over `data`, which must outlive it or is passed to `deleter` at the end; `device` is the device of
// the memory, and null is permitted for a tensor whose memory is set later. Without a dim order and strides
// it is row-major; a dim order follows from strides, and strides from a dim order. If both are given, they
// must describe the same dense layout (dimensions of size 1 may have any stride). These functions abort if
// their arguments do not match.
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, void* data,
    std::vector<executorch::aten::DimOrderType> dim_order, std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::Device device = executorch::aten::Device(executorch::aten::DeviceType::CPU),
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND,
    std::function<void(void*)> deleter = nullptr);
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, void* data,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::Device device = executorch::aten::Device(executorch::aten::DeviceType::CPU),
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND,
    std::function<void(void*)> deleter = nullptr);

// A tensor that owns its memory: `data` holds the bytes of its elements, as many as the shape needs. They are
// moved, not copied. To create a uint8 tensor from elements, pass ScalarType::Byte.
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::vector<uint8_t> data,
    std::vector<executorch::aten::DimOrderType> dim_order, std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::vector<uint8_t> data,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

// A tensor that owns a copy of the elements, in the order of memory, converted to `type` if it differs.
template <class T = float, executorch::aten::ScalarType deduced_type = runtime::CppTypeToScalarType<T>::value>
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::vector<T> data,
    std::vector<executorch::aten::DimOrderType> dim_order = {},
    std::vector<executorch::aten::StridesType> strides = {}, executorch::aten::ScalarType type = deduced_type,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return internal::assemble_from<T>(
      {std::move(sizes), std::move(dim_order), std::move(strides), type, dynamism}, data);
}
template <class T = float, executorch::aten::ScalarType deduced_type = runtime::CppTypeToScalarType<T>::value>
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::initializer_list<T> list,
    std::vector<executorch::aten::DimOrderType> dim_order = {},
    std::vector<executorch::aten::StridesType> strides = {}, executorch::aten::ScalarType type = deduced_type,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return internal::assemble_from<T>(
      {std::move(sizes), std::move(dim_order), std::move(strides), type, dynamism}, list);
}

// The same with rank 1, and with rank 0. An integer list gives the dtype of its C++ type (int: Int), not Long
// as in Python.
template <class T = float, executorch::aten::ScalarType deduced_type = runtime::CppTypeToScalarType<T>::value>
TensorPtr make_tensor_ptr(
    std::vector<T> data, executorch::aten::ScalarType type = deduced_type,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  const auto length = static_cast<executorch::aten::SizesType>(data.size());
  return internal::assemble_from<T>({{length}, {}, {}, type, dynamism}, data);
}
template <class T = float, executorch::aten::ScalarType deduced_type = runtime::CppTypeToScalarType<T>::value>
TensorPtr make_tensor_ptr(
    std::initializer_list<T> list, executorch::aten::ScalarType type = deduced_type,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  const auto length = static_cast<executorch::aten::SizesType>(list.size());
  return internal::assemble_from<T>({{length}, {}, {}, type, dynamism}, list);
}
// Rank 0: one element and no sizes.
template <class T>
TensorPtr make_tensor_ptr(T value) {
  internal::TensorParts parts;
  parts.type = runtime::CppTypeToScalarType<T>::value;
  return internal::assemble_from<T>(std::move(parts), std::initializer_list<T>{value});
}

// A view of another tensor's memory, with its shape or a shape of at most as many elements; empty `sizes`
// keep the shape. The dim order is kept too if the rank is the same, unless a dim order or strides are given.
// The first form requires that the memory outlives the view; the second form keeps the other tensor alive.
// The view of a constant is not writable.
TensorPtr make_tensor_ptr(const executorch::aten::Tensor& tensor,
                          std::vector<executorch::aten::SizesType> sizes = {},
                          std::vector<executorch::aten::DimOrderType> dim_order = {},
                          std::vector<executorch::aten::StridesType> strides = {},
                          std::function<void(void*)> deleter = nullptr);
TensorPtr make_tensor_ptr(const TensorPtr& tensor_ptr, std::vector<executorch::aten::SizesType> sizes = {},
                          std::vector<executorch::aten::DimOrderType> dim_order = {},
                          std::vector<executorch::aten::StridesType> strides = {});

// A copy that owns its elements, converted to `type` if it differs: real dtypes, 16-bit floats, bool and
// unsigned integers convert as in make_tensor_ptr(); without conversion every dtype is copied. A tensor
// without memory gives one without memory. Aborts for memory of a device.
TensorPtr clone_tensor_ptr(const executorch::aten::Tensor& tensor, executorch::aten::ScalarType type);
TensorPtr clone_tensor_ptr(const executorch::aten::Tensor& tensor);
TensorPtr clone_tensor_ptr(const TensorPtr& tensor, executorch::aten::ScalarType type);
TensorPtr clone_tensor_ptr(const TensorPtr& tensor);

#ifndef USE_ATEN_LIB
// A copy in the memory of `target`, between the CPU and another device, whose registered DeviceAllocator
// allocates, copies and frees. Aborts if both are the CPU or neither is, if there is no allocator, or if it
// fails.
TensorPtr clone_tensor_ptr_to(const TensorPtr& tensor, executorch::aten::Device target);
#endif

// Changes the sizes in place; all handles to this tensor see it. The memory stays, and its elements keep
// their positions in memory. Errors: InvalidArgument (rank, negative size), NotSupported (static shape),
// OutOfResources (more elements than at construction).
ET_NODISCARD runtime::Error resize_tensor_ptr(TensorPtr& tensor,
                                              const std::vector<executorch::aten::SizesType>& sizes);

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE

namespace executorch::extension::internal RUSHLIGHT_TENSOR_MODE {

// Number of elements of a shape, at least 0; aborts if it is invalid.
size_t checked_numel(const std::vector<executorch::aten::SizesType>& sizes);
// Aborts unless runtime::canCast(from, to).
void check_castable(executorch::aten::ScalarType from, executorch::aten::ScalarType to);

// A context for ET_SWITCH where no error can be returned: a dtype outside of the switch aborts.
struct AbortOnFailure {
  [[noreturn]] void fail(runtime::Error) { runtime::runtime_abort(); }
};

template <class T, class Range>
TensorPtr assemble_from(TensorParts parts, const Range& range) {
  const auto count = static_cast<size_t>(std::distance(range.begin(), range.end()));
  ET_CHECK_MSG(count == checked_numel(parts.sizes), "elements: expected %zu for the sizes, got %zu",
               checked_numel(parts.sizes), count);
  std::vector<uint8_t> bytes(count * runtime::elementSize(parts.type));
  if (parts.type == runtime::CppTypeToScalarType<T>::value) {
    std::copy(range.begin(), range.end(), reinterpret_cast<T*>(bytes.data()));
  } else {
    check_castable(runtime::CppTypeToScalarType<T>::value, parts.type);
    // Converts each element as static_cast does; canCast() has excluded what would lose the kind of number.
    AbortOnFailure context;
    ET_SWITCH_REALHBBF16_AND_UINT_TYPES(parts.type, context, "make_tensor_ptr", TO, [&] {
      std::transform(range.begin(), range.end(), reinterpret_cast<TO*>(bytes.data()),
                     [](const T& element) { return static_cast<TO>(element); });
    });
  }
  return assemble(std::move(parts), std::move(bytes));
}

}  // namespace executorch::extension::internalRUSHLIGHT_TENSOR_MODE
