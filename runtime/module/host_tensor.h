// SPDX-License-Identifier: BSD-3-Clause
// A tensor with its shape in one object. It refers to the caller's memory or owns its elements.
//
//   HostTensor image({1, 3, 224, 224}, pixels);                // float* pixels, not copied
//   HostTensor ids({1, 4}, std::vector<int64_t>{1, 2, 3, 4});  // owns the elements
//   module->forward({image.value()});
#pragma once

#include <memory>
#include <vector>

#include "runtime/tensor/evalue.h"

namespace rushlight {

// Movable; tensor() and value() stay valid after a move, as long as the object that was moved to lives.
class HostTensor {
 public:
  // Refers to `data`, which must outlive it: product(sizes) elements in the order of `dim_order`, outermost
  // dimension first (row-major if empty). Preconditions: rank at most kTensorDimensionLimit; `dim_order` is
  // empty or a permutation.
  HostTensor(std::vector<SizesType> sizes, ScalarType type, void* data,
             std::vector<DimOrderType> dim_order = {});
  template <class T>
  HostTensor(std::vector<SizesType> sizes, T* data, std::vector<DimOrderType> dim_order = {})
      : HostTensor(std::move(sizes), scalar_type_of<T>, data, std::move(dim_order)) {}
  // Owns `elements`, which must have product(sizes) entries.
  template <class T>
  HostTensor(std::vector<SizesType> sizes, std::vector<T> elements, std::vector<DimOrderType> dim_order = {})
      : HostTensor(std::move(sizes), scalar_type_of<T>, nullptr, std::move(dim_order)) {
    RL_DCHECK(elements.size() == impl_->numel());
    auto own = std::make_shared<std::vector<T>>(std::move(elements));
    impl_->set_data(own->data());
    owned_ = std::move(own);
  }
  HostTensor(HostTensor&&) = default;
  HostTensor& operator=(HostTensor&&) = default;

  [[nodiscard]] Tensor tensor() const { return Tensor(impl_.get()); }
  [[nodiscard]] EValue value() const { return EValue(tensor()); }

 private:
  std::vector<SizesType> sizes_;
  std::vector<DimOrderType> dim_order_;
  std::vector<StridesType> strides_;
  std::unique_ptr<TensorImpl> impl_;  // keeps its address when this object moves
  std::shared_ptr<void> owned_;
};

}  // namespace rushlight
