// SPDX-License-Identifier: BSD-3-Clause
// A handle to a TensorImpl: rushlight::Tensor with the official members. A pointer's size; copies refer to
// the same tensor.
#pragma once

#include <executorch/runtime/core/portable_type/tensor_impl.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime::etensor {

// The TensorImpl must not be null and must outlive all handles. Constness is the handle's: a const Tensor
// gives writable memory.
class Tensor : public rushlight::Tensor {
 public:
  using SizesType = TensorImpl::SizesType;
  using DimOrderType = TensorImpl::DimOrderType;
  using StridesType = TensorImpl::StridesType;

  Tensor() = delete;
  explicit Tensor(TensorImpl* impl) : rushlight::Tensor(impl) {}
  // The same tensor under the official type.
  explicit Tensor(rushlight::Tensor tensor) : rushlight::Tensor(tensor) {}

  // The description, for the runtime and tests; changes show in all handles.
  TensorImpl* unsafeGetTensorImpl() const { return static_cast<TensorImpl*>(impl()); }

  // Bytes of the present elements.
  size_t nbytes() const { return official()->nbytes(); }
  // The size of dimension d; aborts unless 0 <= d < dim().
  ssize_t size(ssize_t d) const { return official()->size(d); }
  // Rank, and number of elements: 1 for rank 0.
  ssize_t dim() const { return official()->dim(); }
  ssize_t numel() const { return official()->numel(); }
  ScalarType scalar_type() const { return official()->scalar_type(); }
  ScalarType dtype() const { return scalar_type(); }
  // Bytes of an element.
  ssize_t element_size() const { return official()->element_size(); }
  // Sizes; dimensions from outermost to innermost in memory; distances of neighbours by dimension, in
  // elements. Views of the tensor's arrays, which a resize changes.
  const ArrayRef<SizesType> sizes() const { return official()->sizes(); }
  const ArrayRef<DimOrderType> dim_order() const { return official()->dim_order(); }
  const ArrayRef<StridesType> strides() const { return official()->strides(); }
  // The changes of shape that resize_tensor() may make.
  TensorShapeDynamism shape_dynamism() const { return official()->shape_dynamism(); }
  // The device of the memory. The pointers below can be dereferenced only if it is the CPU.
  Device device() const { return official()->device(); }
  DeviceType device_type() const { return official()->device_type(); }
  DeviceIndex device_index() const { return official()->device_index(); }

  // The elements as T; null without memory. The dtype is not checked: T must be its C++ type
  // (CppTypeToScalarType), or one of the same layout.
  template <class T>
  const T* const_data_ptr() const {
    return official()->template data<T>();
  }
  const void* const_data_ptr() const { return official()->data(); }
  // The same for writing. Constants of a program must not be written, and no check prevents it.
  template <class T>
  T* mutable_data_ptr() const {
    return official()->template mutable_data<T>();
  }
  void* mutable_data_ptr() const { return official()->mutable_data(); }
  // Older names of mutable_data_ptr().
  template <class T>
  ET_DEPRECATED T* data_ptr() const {
    return official()->template mutable_data<T>();
  }
  ET_DEPRECATED void* data_ptr() const { return official()->mutable_data(); }
  // Replaces the memory, which must hold the elements at construction. No ownership.
  ET_DEPRECATED void set_data(void* data) const { official()->set_data(data); }

 private:
  TensorImpl* official() const { return unsafeGetTensorImpl(); }
};

static_assert(sizeof(Tensor) == sizeof(rushlight::Tensor));

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Tensor;
}
