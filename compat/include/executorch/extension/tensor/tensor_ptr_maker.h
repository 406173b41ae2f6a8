// SPDX-License-Identifier: BSD-3-Clause
// Creates tensors over given memory, and new ones: empty, full, zeros, ones, random. Implemented in
// compat/src/tensor_makers.cpp.
//
//   auto frame = from_blob(camera_buffer, {1, 3, 224, 224}, ScalarType::Byte);
//   auto mask = zeros({1, 128}, ScalarType::Bool);
//   auto noise = randn({1, 4, 64, 64});
//
// New tensors own their memory, which is on the CPU. They are row-major unless strides are given, which must
// describe a dense layout. Like make_tensor_ptr(), all functions abort if their arguments do not match. Their
// shape may change up to the initial number of elements unless `dynamism` is STATIC.
#pragma once

#include <executorch/extension/tensor/tensor_ptr.h>

#include "compat/detail/tensor_mode.h"

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

// Builds a tensor over given memory step by step:
//
//   for_blob(data, {2, 3}).type(ScalarType::Int).strides({1, 2}).make_tensor_ptr()
//
// Each setter returns the maker as an rvalue. make_tensor_ptr() checks what was set and consumes the maker.
class TensorPtrMaker final {
 public:
  TensorPtrMaker(const TensorPtrMaker&) = delete;
  TensorPtrMaker& operator=(const TensorPtrMaker&) = delete;
  TensorPtrMaker(TensorPtrMaker&&) = default;
  TensorPtrMaker& operator=(TensorPtrMaker&&) = default;

  TensorPtrMaker&& type(executorch::aten::ScalarType type);
  // The layout: a dim order, strides in elements, or both if they agree; without them row-major.
  TensorPtrMaker&& dim_order(std::vector<executorch::aten::DimOrderType> dim_order);
  TensorPtrMaker&& strides(std::vector<executorch::aten::StridesType> strides);
  // Limits resize_tensor_ptr(); DYNAMIC_BOUND by default.
  TensorPtrMaker&& dynamism(executorch::aten::TensorShapeDynamism dynamism);
  // Called with the memory when the last pointer to the tensor is destroyed.
  TensorPtrMaker&& deleter(std::function<void(void*)>&& deleter);
  // The device of the memory; nothing is copied.
  TensorPtrMaker&& device(executorch::aten::Device device);

  TensorPtr make_tensor_ptr() &&;
  operator TensorPtr() &&;

 private:
  explicit TensorPtrMaker(internal::TensorParts parts) : parts_(std::move(parts)) {}
  friend TensorPtrMaker for_blob(void*, std::vector<executorch::aten::SizesType>,
                                 executorch::aten::ScalarType);

  internal::TensorParts parts_;
};

// Starts a maker. `data` must outlive the tensor unless a deleter is set; null is permitted for a tensor
// whose memory is set later.
TensorPtrMaker for_blob(void* data, std::vector<executorch::aten::SizesType> sizes,
                        executorch::aten::ScalarType type = executorch::aten::ScalarType::Float);

// The same in one call: sizes, strides in elements (row-major without them), dtype, the device of the memory.
// The forms with a deleter pass it the memory at the end; without one `data` must outlive the tensor.
TensorPtr from_blob(
    void* data, std::vector<executorch::aten::SizesType> sizes,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::Device device = executorch::aten::Device(executorch::aten::DeviceType::CPU),
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr from_blob(
    void* data, std::vector<executorch::aten::SizesType> sizes,
    std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::Device device = executorch::aten::Device(executorch::aten::DeviceType::CPU),
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr from_blob(
    void* data, std::vector<executorch::aten::SizesType> sizes, executorch::aten::ScalarType type,
    executorch::aten::Device device, std::function<void(void*)>&& deleter,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr from_blob(
    void* data, std::vector<executorch::aten::SizesType> sizes,
    std::vector<executorch::aten::StridesType> strides, executorch::aten::ScalarType type,
    executorch::aten::Device device, std::function<void(void*)>&& deleter,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

// New tensors. The _like forms take sizes and dim order of another tensor, and its dtype unless one is given;
// a tensor like one on a device is on the CPU. Elements are unspecified; here they are zeros. Every dtype
// with a known element size is permitted.
TensorPtr empty_strided(
    std::vector<executorch::aten::SizesType> sizes, std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr empty_like(
    const TensorPtr& other, executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr empty(
    std::vector<executorch::aten::SizesType> sizes,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

// All elements have one value, converted as by static_cast: a floating value is truncated for integer dtypes,
// and a nonzero one is true for bool. Aborts for complex and quantized dtypes.
TensorPtr full_strided(
    std::vector<executorch::aten::SizesType> sizes, std::vector<executorch::aten::StridesType> strides,
    executorch::aten::Scalar fill_value,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr full_like(
    const TensorPtr& other, executorch::aten::Scalar fill_value,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr full(
    std::vector<executorch::aten::SizesType> sizes, executorch::aten::Scalar fill_value,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

// Rank 0; then the values 1 and 0. zeros() permits the dtypes of empty(), ones() and scalar_tensor() the
// dtypes of full().
TensorPtr scalar_tensor(executorch::aten::Scalar value,
                        executorch::aten::ScalarType type = executorch::aten::ScalarType::Float);
TensorPtr ones_like(
    const TensorPtr& other, executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr ones(
    std::vector<executorch::aten::SizesType> sizes,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr zeros_like(
    const TensorPtr& other, executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr zeros(
    std::vector<executorch::aten::SizesType> sizes,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

// Uniform in [0, 1), drawn as float: rounding to a 16-bit dtype may give 1, and integer dtypes get 0. All
// random functions draw from one Mersenne Twister (MT19937) per thread, which the system seeds: values differ
// from one process to the next.
TensorPtr rand_strided(
    std::vector<executorch::aten::SizesType> sizes, std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr rand_like(
    const TensorPtr& other, executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr rand(
    std::vector<executorch::aten::SizesType> sizes,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

// Normal with mean 0 and standard deviation 1, drawn as float. Aborts, like rand(), for complex and quantized
// dtypes.
TensorPtr randn_strided(
    std::vector<executorch::aten::SizesType> sizes, std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr randn_like(
    const TensorPtr& other, executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr randn(
    std::vector<executorch::aten::SizesType> sizes,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

// Integers from low to high - 1, each with the same probability, drawn as int64 and then converted to `type`.
// Aborts unless low < high.
TensorPtr randint_strided(
    int64_t low, int64_t high, std::vector<executorch::aten::SizesType> sizes,
    std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Int,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr randint_like(
    const TensorPtr& other, int64_t low, int64_t high,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr randint(
    int64_t low, int64_t high, std::vector<executorch::aten::SizesType> sizes,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Int,
    executorch::aten::TensorShapeDynamism dynamism = executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE
