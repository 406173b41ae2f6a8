// SPDX-License-Identifier: BSD-3-Clause
// A tensor with its shape in one object, over the caller's memory or its own:
//
//   HostTensor image({1, 3, 224, 224}, pixels);         // float* pixels, not copied
//   HostTensor ids({1, 4}, std::vector<int64_t>{1, 2, 3, 4});  // owns the numbers
//   module->forward({image.value()});
#pragma once

#include <memory>
#include <vector>

#include "runtime/tensor/evalue.h"

namespace rushlight {

class HostTensor {
 public:
  // Over `data`, which outlives it: product(sizes) elements, outermost dimension of `dim_order` first;
  // row major when that is empty.
  HostTensor(std::vector<SizesType> sizes, ScalarType type, void* data,
             std::vector<DimOrderType> dim_order = {});
  template <class T>
  HostTensor(std::vector<SizesType> sizes, T* data, std::vector<DimOrderType> dim_order = {})
      : HostTensor(std::move(sizes), scalar_type_of<T>, data, std::move(dim_order)) {}
  // With elements of its own: product(sizes) of them.
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
  std::unique_ptr<TensorImpl> impl_;  // stays where it is when this object moves
  std::shared_ptr<void> owned_;
};

}  // namespace rushlight
