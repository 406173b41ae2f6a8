// SPDX-License-Identifier: BSD-3-Clause
// A tensor with permuted dimensions on the same memory, for fronts whose operator orders dimensions
// differently from the problem of a back. Takes about 60 bytes on the stack. Backs take tensors and not
// views, so a view would not do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

inline constexpr size_t kPermutedRank = 4;

// Must outlive all uses of get(), and the tensor's data must outlive it. Not copyable, because tensor_ points
// into it.
class PermutedTensor {
 public:
  // Dimension i is dims[i] of `tensor`, with its size, stride and place in the dim order. Precondition:
  // `dims` is a permutation of the dimensions; the rank is 1 to kPermutedRank.
  PermutedTensor(const Tensor& tensor, const uint8_t* dims);
  PermutedTensor(const PermutedTensor&) = delete;
  PermutedTensor& operator=(const PermutedTensor&) = delete;

  [[nodiscard]] const Tensor& get() const { return tensor_; }

 private:
  // Sets sizes and dim order, from which impl_ computes the strides; returns the dtype.
  ScalarType arrange(const Tensor& tensor, const uint8_t* dims);

  SizesType sizes_[kPermutedRank];
  DimOrderType order_[kPermutedRank];
  StridesType strides_[kPermutedRank];
  TensorImpl impl_;
  Tensor tensor_{&impl_};
};

}  // namespace rushlight::kernels
