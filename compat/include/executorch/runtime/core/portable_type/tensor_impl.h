// SPDX-License-Identifier: BSD-3-Clause
// The description of a tensor: rushlight's, with the official members, and storage for a dim order and
// strides that its maker omits. Objects that the runtime makes lack this storage but are used in the same
// way.
//
//   SizesType sizes[] = {2, 3};
//   float data[6] = {};
//   TensorImpl impl(ScalarType::Float, 2, sizes, data);
//   Tensor tensor(&impl);
#pragma once

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/portable_type/scalar_type.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/platform/compiler.h>
#include <sys/types.h>

#include "compat/detail/convert.h"
#include "compat/detail/device.h"
#include "runtime/tensor/tensor.h"

// Conversion specifications for printf: "%" ET_PRI_TENSOR_SIZE prints size(), ET_PRI_TENSOR_DIM dim(),
// ET_PRI_TENSOR_NUMEL numel(), and ET_PRI_SIZES_AND_STRIDES an entry of sizes() or strides().
#define ET_PRI_TENSOR_SIZE "zd"
#define ET_PRI_TENSOR_DIM "zd"
#define ET_PRI_TENSOR_NUMEL "zd"
#define ET_PRI_SIZES_AND_STRIDES "d"

namespace executorch::runtime::etensor {

// Owns neither elements nor the arrays that its maker provided.
class TensorImpl : public rushlight::TensorImpl {
  using Base = rushlight::TensorImpl;

 public:
  using SizesType = rushlight::SizesType;
  using DimOrderType = rushlight::DimOrderType;
  using StridesType = rushlight::StridesType;

  TensorImpl() = delete;
  // `sizes`, `dim_order` and `strides` have `dim` entries, are used in place and must outlive the object;
  // strides are written, sizes too if the shape is dynamic. Without a dim order the tensor is row-major;
  // strides follow from the dim order, whatever the array contains. `data` may be null, and otherwise holds
  // all elements.
  //
  // Up to kTensorDimensionLimit dimensions, and up to 255 if both arrays are given, though kernels refuse
  // such tensors. Aborts on invalid arguments: a negative size, too many dimensions or elements (strides fit
  // int32), an invalid dim order, a device index outside of -16 to 15.
  TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data = nullptr,
             DimOrderType* dim_order = nullptr, StridesType* strides = nullptr,
             TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC,
             DeviceType device_type = DeviceType::CPU, DeviceIndex device_index = 0);
  // Refers to the same elements and to the arrays that the other's maker provided, as in ExecuTorch. A dim
  // order or strides that the other stores itself are copied; the copy's capacity is then the present number
  // of elements, otherwise the other's. The copy of a constant is constant.
  TensorImpl(const TensorImpl& other);
  TensorImpl& operator=(const TensorImpl&) = delete;

  // Bytes of the present elements.
  size_t nbytes() const;
  // Aborts unless 0 <= d < dim().
  ssize_t size(ssize_t d) const {
    ET_CHECK_MSG(d >= 0 && d < dim(), "dimension %zd: expected an index below %zd", d, dim());
    return Base::sizes()[static_cast<size_t>(d)];
  }
  // Rank and number of elements; 0 dimensions have 1 element.
  ssize_t dim() const { return Base::dim(); }
  ssize_t numel() const { return static_cast<ssize_t>(Base::numel()); }
  ScalarType scalar_type() const { return rushlight::compat::official(Base::scalar_type()); }
  ScalarType dtype() const { return scalar_type(); }
  ssize_t element_size() const;
  // Views of the arrays; strides in elements.
  const ArrayRef<SizesType> sizes() const { return Base::sizes(); }
  const ArrayRef<DimOrderType> dim_order() const { return Base::dim_order(); }
  const ArrayRef<StridesType> strides() const { return Base::strides(); }
  TensorShapeDynamism shape_dynamism() const { return Base::shape_dynamism(); }

  // The device of the memory; kernels compute on the CPU's only.
  Device device() const { return rushlight::compat::official_device(Base::device()); }
  DeviceType device_type() const { return device().type(); }
  DeviceIndex device_index() const { return device().index(); }

  // The elements as T, without a check of the dtype; null without memory.
  template <class T>
  const T* data() const {
    return static_cast<const T*>(Base::data());
  }
  const void* data() const { return Base::data(); }
  template <class T>
  T* mutable_data() const {
    return static_cast<T*>(Base::mutable_data());
  }
  void* mutable_data() const { return Base::mutable_data(); }
  // Replaces the memory. Not null, it must hold the elements at construction; it is not owned.
  void set_data(void* data) {
    Base::set_data(data, data == nullptr ? rushlight::Storage::None : rushlight::Storage::Planned);
  }
  // Refers to the other's memory, which must hold this tensor's elements; not writable if it is a constant's.
  void share_data(const TensorImpl& other) {
    using rushlight::Storage;
    const bool constant = other.storage() == Storage::Constant || other.storage() == Storage::ConstantView;
    set_data(other.mutable_data());
    if (constant) Base::set_data(other.mutable_data(), Storage::ConstantView);
  }
  // Resizes or aborts.
  ET_DEPRECATED void set_sizes_contiguous(ArrayRef<SizesType> sizes) {
    ET_CHECK_MSG(internal_resize_contiguous(sizes) == Error::Ok, "sizes: not possible for this tensor");
  }
  // Sets new sizes of the same rank in the present dim order. Errors: InvalidArgument (negative size),
  // NotSupported (another rank, static shape), OutOfResources (more elements than at construction).
  ET_NODISCARD Error internal_resize_contiguous(ArrayRef<SizesType> sizes);

 private:
  // Copies the arrays that the other stores itself to the given ones, and returns a description with these.
  static Base description_of(const TensorImpl& other, DimOrderType* own_dim_order, StridesType* own_strides);

  DimOrderType own_dim_order_[rushlight::kTensorDimensionLimit];
  StridesType own_strides_[rushlight::kTensorDimensionLimit];
};

// The number of elements of a shape: the product of `dim` sizes, 1 without dimensions. Aborts on a negative
// size or missing sizes; wraps around on overflow, as in ExecuTorch. safe_numel() returns InvalidArgument
// instead, on overflow too: use it for sizes from a file.
ssize_t compute_numel(const TensorImpl::SizesType* sizes, ssize_t dim);
Result<ssize_t> safe_numel(const TensorImpl::SizesType* sizes, ssize_t dim);

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::compute_numel;
using ::executorch::runtime::etensor::safe_numel;
using ::executorch::runtime::etensor::TensorImpl;
}  // namespace torch::executor
