// SPDX-License-Identifier: BSD-3-Clause
// A tensor under another order of its dimensions, over the same memory: for fronts whose operator names
// dimensions in another order than the problem of a back. Costs some 60 bytes on the stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

inline constexpr size_t kPermutedRank = 4;

class PermutedTensor {
 public:
  // Dimension i of this is dims[i] of the tensor, whose rank is 1 to kPermutedRank.
  PermutedTensor(const Tensor& tensor, const uint8_t* dims);
  PermutedTensor(const PermutedTensor&) = delete;
  PermutedTensor& operator=(const PermutedTensor&) = delete;

  [[nodiscard]] const Tensor& get() const { return tensor_; }

 private:
  // Fills in what the description is made of; its dtype is the tensor's.
  ScalarType arrange(const Tensor& tensor, const uint8_t* dims);

  SizesType sizes_[kPermutedRank];
  DimOrderType order_[kPermutedRank];
  StridesType strides_[kPermutedRank];
  TensorImpl impl_;
  Tensor tensor_{&impl_};
};

}  // namespace rushlight::kernels
