// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/host_tensor.h"

#include <numeric>

namespace rushlight {

HostTensor::HostTensor(std::vector<SizesType> sizes, ScalarType type, void* data,
                       std::vector<DimOrderType> dim_order)
    : sizes_(std::move(sizes)), dim_order_(std::move(dim_order)), strides_(sizes_.size()) {
  // The vectors allocate on the heap, so TensorImpl's pointers stay valid when a HostTensor is moved.
  RL_DCHECK(sizes_.size() <= kTensorDimensionLimit);
  if (dim_order_.empty()) {
    dim_order_.resize(sizes_.size());
    std::iota(dim_order_.begin(), dim_order_.end(), DimOrderType{0});
  }
  RL_DCHECK(dim_order_.size() == sizes_.size());
  impl_ = std::make_unique<TensorImpl>(type, static_cast<ptrdiff_t>(sizes_.size()), sizes_.data(), data,
                                       dim_order_.data(), strides_.data());
}

}  // namespace rushlight
