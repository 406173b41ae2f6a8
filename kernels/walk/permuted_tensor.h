// SPDX-License-Identifier: BSD-3-Clause
// A tensor with permuted dimensions on the same memory, for fronts whose operator orders dimensions
// differently from the problem of a back. Takes about 60 bytes on the stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

inline constexpr size_t kPermutedRank = 4;

class PermutedTensor {
 public:
  // Dimension i is dims[i] of `tensor`. Precondition: its rank is 1 to kPermutedRank.
  PermutedTensor(const Tensor& tensor, const uint8_t* dims);
  PermutedTensor(const PermutedTensor&) = delete;
  PermutedTensor& operator=(const PermutedTensor&) = delete;

  [[nodiscard]] const Tensor& get() const { return tensor_; }

 private:
  // Sets sizes, dim order and strides; returns the dtype.
  ScalarType arrange(const Tensor& tensor, const uint8_t* dims);

  SizesType sizes_[kPermutedRank];
  DimOrderType order_[kPermutedRank];
  StridesType strides_[kPermutedRank];
  TensorImpl impl_;
  Tensor tensor_{&impl_};
};

}  // namespace rushlight::kernels
