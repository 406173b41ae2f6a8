// SPDX-License-Identifier: BSD-3-Clause
// Creates tensors over given memory, and new ones: empty, full, zeros, ones, random. Implemented in
// compat/src/tensor_makers.cpp.
#pragma once

#include <executorch/extension/tensor/tensor_ptr.h>

namespace executorch::extension {

// Builds a tensor over given memory step by step:
//
//   for_blob(data, {2, 3}).type(ScalarType::Int).strides({1, 2}).make_tensor_ptr()
class TensorPtrMaker final {
 public:
  TensorPtrMaker(const TensorPtrMaker&) = delete;
  TensorPtrMaker& operator=(const TensorPtrMaker&) = delete;
  TensorPtrMaker(TensorPtrMaker&&) = default;
  TensorPtrMaker& operator=(TensorPtrMaker&&) = default;

  TensorPtrMaker&& type(executorch::aten::ScalarType type);
  TensorPtrMaker&& dim_order(std::vector<executorch::aten::DimOrderType> dim_order);
  TensorPtrMaker&& strides(std::vector<executorch::aten::StridesType> strides);
  TensorPtrMaker&& dynamism(executorch::aten::TensorShapeDynamism dynamism);
  // Called with the memory when the tensor is destroyed.
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

TensorPtrMaker for_blob(void* data, std::vector<executorch::aten::SizesType> sizes,
                        executorch::aten::ScalarType type = executorch::aten::ScalarType::Float);

// The same in one call.
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

// New tensors. The _like forms take sizes and strides of another tensor, and its dtype unless one is given.
// Elements are unspecified; here they are zeros.
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

// All elements have one value.
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

// Uniform in [0, 1).
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

// Normal with mean 0 and standard deviation 1.
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

// Integers from low to high - 1.
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

}  // namespace executorch::extension
