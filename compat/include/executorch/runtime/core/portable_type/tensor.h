// SPDX-License-Identifier: BSD-3-Clause
// A handle to a TensorImpl: rushlight::Tensor with the official members.
#pragma once

#include <executorch/runtime/core/portable_type/tensor_impl.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime::etensor {

class Tensor : public rushlight::Tensor {
 public:
  using SizesType = TensorImpl::SizesType;
  using DimOrderType = TensorImpl::DimOrderType;
  using StridesType = TensorImpl::StridesType;

  Tensor() = delete;
  explicit Tensor(TensorImpl* impl) : rushlight::Tensor(impl) {}
  explicit Tensor(rushlight::Tensor tensor) : rushlight::Tensor(tensor) {}

  TensorImpl* unsafeGetTensorImpl() const { return static_cast<TensorImpl*>(impl()); }

  size_t nbytes() const { return official()->nbytes(); }
  ssize_t size(ssize_t d) const { return official()->size(d); }
  ssize_t dim() const { return official()->dim(); }
  ssize_t numel() const { return official()->numel(); }
  ScalarType scalar_type() const { return official()->scalar_type(); }
  ScalarType dtype() const { return scalar_type(); }
  ssize_t element_size() const { return official()->element_size(); }
  const ArrayRef<SizesType> sizes() const { return official()->sizes(); }
  const ArrayRef<DimOrderType> dim_order() const { return official()->dim_order(); }
  const ArrayRef<StridesType> strides() const { return official()->strides(); }
  TensorShapeDynamism shape_dynamism() const { return official()->shape_dynamism(); }
  Device device() const { return official()->device(); }
  DeviceType device_type() const { return official()->device_type(); }
  DeviceIndex device_index() const { return official()->device_index(); }

  template <class T>
  const T* const_data_ptr() const {
    return official()->template data<T>();
  }
  const void* const_data_ptr() const { return official()->data(); }
  template <class T>
  T* mutable_data_ptr() const {
    return official()->template mutable_data<T>();
  }
  void* mutable_data_ptr() const { return official()->mutable_data(); }
  template <class T>
  ET_DEPRECATED T* data_ptr() const {
    return official()->template mutable_data<T>();
  }
  ET_DEPRECATED void* data_ptr() const { return official()->mutable_data(); }
  ET_DEPRECATED void set_data(void* data) const { official()->set_data(data); }

 private:
  TensorImpl* official() const { return unsafeGetTensorImpl(); }
};

static_assert(sizeof(Tensor) == sizeof(rushlight::Tensor));

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Tensor;
}
