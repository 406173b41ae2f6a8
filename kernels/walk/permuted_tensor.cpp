// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/permuted_tensor.h"

namespace rushlight::kernels {

// arrange() fills sizes_ and order_ before the constructor of impl_ reads them.
PermutedTensor::PermutedTensor(const Tensor& tensor, const uint8_t* dims)
    : impl_(arrange(tensor, dims), tensor.dim(), sizes_, tensor.impl()->mutable_data(), order_, strides_) {
  impl_.set_data(tensor.impl()->mutable_data(), tensor.impl()->storage());
}

ScalarType PermutedTensor::arrange(const Tensor& tensor, const uint8_t* dims) {
  const size_t rank = tensor.sizes().size();
  for (size_t i = 0; i < rank && i < kPermutedRank; ++i) {
    sizes_[i] = tensor.sizes()[dims[i]];
    for (size_t j = 0; j < rank && j < kPermutedRank; ++j) {
      // The order lists dimensions from the outermost in memory; position j stays, only its name changes.
      if (tensor.dim_order()[j] == dims[i]) order_[j] = static_cast<DimOrderType>(i);
    }
  }
  return tensor.scalar_type();
}

}  // namespace rushlight::kernels
