// SPDX-License-Identifier: BSD-3-Clause
// Indexed access to the elements of a row-major tensor: accessor[i][j].
//
//   auto image = make_tensor_accessor<const float, 3>(tensor);
//   if (image.ok()) float red = (*image)[0][y][x];
//
// An accessor holds pointers to the tensor's memory, sizes and strides, which must outlive it. Indices are
// not checked and do not count from the end: precondition 0 <= i < size(0). Each index costs one
// multiply-add; a loop over the last dimension can take the address of accessor[i][0], because its elements
// are consecutive.
#pragma once

#include <type_traits>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

template <class T, ssize_t N>
class TensorAccessor;

// An accessor of a tensor of rank N, for T = the C++ type of its dtype; T may be const. Only the element's
// size is checked, not the dtype: int32 elements can be read as float. The memory must be the CPU's. Errors:
// InvalidArgument (rank or element size differ), NotSupported (the dim order is not 0, 1, 2, ..., even if
// dimensions of size 1 make the layout row-major).
template <class T, ssize_t N>
executorch::runtime::Result<TensorAccessor<T, N>> make_tensor_accessor(
    const executorch::aten::Tensor& tensor);

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE

namespace executorch::extension::internal RUSHLIGHT_TENSOR_MODE {

// Data, sizes and strides of the dimensions that are not indexed yet; N of them.
template <class T, ssize_t N>
class TensorAccessorBase {
 public:
  // Size and stride, in elements, of dimension `i`; aborts unless 0 <= i < N.
  executorch::aten::SizesType size(ssize_t i) const { return sizes_[checked(i)]; }
  executorch::aten::StridesType stride(ssize_t i) const { return strides_[checked(i)]; }

 protected:
  TensorAccessorBase(T* data, const executorch::aten::SizesType* sizes,
                     const executorch::aten::StridesType* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  // The address of index i of the first dimension.
  T* at(ssize_t i) const { return data_ + strides_[0] * i; }

  T* data_;
  const executorch::aten::SizesType* sizes_;
  const executorch::aten::StridesType* strides_;

 private:
  static ssize_t checked(ssize_t i) {
    ET_CHECK_MSG(i >= 0 && i < N, "dimension %zd: expected an index below %zd", i, N);
    return i;
  }
};

}  // namespace executorch::extension::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

// One index selects a tensor of rank N - 1; the last one selects an element. Accessors are three pointers and
// meant to be passed by value. Only make_tensor_accessor() creates the first one.
template <class T, ssize_t N>
class TensorAccessor : public internal::TensorAccessorBase<T, N> {
 public:
  TensorAccessor<T, N - 1> operator[](ssize_t i) { return inner(i); }
  const TensorAccessor<T, N - 1> operator[](ssize_t i) const { return inner(i); }

 private:
  using internal::TensorAccessorBase<T, N>::TensorAccessorBase;

  // Steps to index i of the first dimension and drops that dimension.
  TensorAccessor<T, N - 1> inner(ssize_t i) const {
    return TensorAccessor<T, N - 1>(this->at(i), this->sizes_ + 1, this->strides_ + 1);
  }

  template <class U, ssize_t M>
  friend class TensorAccessor;
  template <class U, ssize_t M>
  friend executorch::runtime::Result<TensorAccessor<U, M>> make_tensor_accessor(
      const executorch::aten::Tensor&);
};

template <class T>
class TensorAccessor<T, 1> : public internal::TensorAccessorBase<T, 1> {
 public:
  // An element, which may be written unless T or the accessor is const.
  T& operator[](ssize_t i) { return *this->at(i); }
  const T& operator[](ssize_t i) const { return *this->at(i); }

 private:
  using internal::TensorAccessorBase<T, 1>::TensorAccessorBase;

  template <class U, ssize_t M>
  friend class TensorAccessor;
  template <class U, ssize_t M>
  friend executorch::runtime::Result<TensorAccessor<U, M>> make_tensor_accessor(
      const executorch::aten::Tensor&);
};

template <class T, ssize_t N>
executorch::runtime::Result<TensorAccessor<T, N>> make_tensor_accessor(
    const executorch::aten::Tensor& tensor) {
  static_assert(N > 0, "expected rank 1 or more; read a scalar through its data pointer");
  ET_CHECK_OR_RETURN_ERROR(tensor.dim() == N, InvalidArgument, "rank: got %zd, expected %zd", tensor.dim(),
                           N);
  ET_CHECK_OR_RETURN_ERROR(static_cast<size_t>(tensor.element_size()) == sizeof(T), InvalidArgument,
                           "element size: got %zd bytes, expected %zu", tensor.element_size(), sizeof(T));
#ifndef USE_ATEN_LIB  // PyTorch's tensors have strides of any kind
  for (ssize_t i = 0; i < N; ++i) {
    ET_CHECK_OR_RETURN_ERROR(tensor.dim_order()[static_cast<size_t>(i)] == i, NotSupported,
                             "dim order: expected row-major");
  }
#endif
  T* data;
  if constexpr (std::is_const_v<T>) {
    data = tensor.const_data_ptr<std::remove_const_t<T>>();
  } else {
    data = tensor.mutable_data_ptr<T>();
  }
  return TensorAccessor<T, N>(data, tensor.sizes().data(), tensor.strides().data());
}

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE
