// SPDX-License-Identifier: BSD-3-Clause
// The tensor types in one namespace: executorch::aten, and its older name exec_aten. Kernels written with
// these names compile against rushlight's tensors and PyTorch's. By default they are rushlight's: Tensor and
// EValue are the objects that its runtime uses, without conversion. With USE_ATEN_LIB, ExecuTorch's ATen
// mode, they are PyTorch's: values become views at each call of a method, kernel or backend.
#pragma once

#include <optional>
#include <string_view>

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/bfloat16_math.h>
#include <executorch/runtime/core/portable_type/complex.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/core/portable_type/optional.h>
#include <executorch/runtime/core/portable_type/qint_types.h>
#include <executorch/runtime/core/portable_type/scalar.h>
#include <executorch/runtime/core/portable_type/scalar_type.h>
#include <executorch/runtime/core/portable_type/string_view.h>
#include <executorch/runtime/core/portable_type/tensor.h>
#include <executorch/runtime/core/portable_type/tensor_options.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

#include "compat/detail/tensor_mode.h"

#ifdef USE_ATEN_LIB
#include <cinttypes>

#include <ATen/ATen.h>
#include <c10/util/safe_numerics.h>
#include <torch/types.h>
#endif

namespace executorch::aten {

// Types of the standard library that older code finds here, and the enumeration of shape dynamism.
using executorch::runtime::TensorShapeDynamism;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;

#ifdef USE_ATEN_LIB

using Tensor = at::Tensor;
using TensorImpl = at::TensorImpl;
template <class T>
using ArrayRef = c10::ArrayRef<T>;
using TensorList = at::TensorList;
using IntArrayRef = at::IntArrayRef;
template <class T>
using OptionalArrayRef = c10::OptionalArrayRef<T>;
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;
using ScalarType = at::ScalarType;
using Scalar = c10::Scalar;
using MemoryFormat = c10::MemoryFormat;
using Layout = c10::Layout;
using Device = c10::Device;
using DeviceType = c10::DeviceType;
using SizesType = int64_t;
using DimOrderType = uint8_t;
using StridesType = int64_t;
using Half = c10::Half;
using BFloat16 = c10::BFloat16;
template <class T>
using complex = c10::complex<T>;
using qint8 = c10::qint8;
using quint8 = c10::quint8;
using qint32 = c10::qint32;
using quint4x2 = c10::quint4x2;
using quint2x4 = c10::quint2x4;

// The number of elements of a shape, unchecked and checked: InvalidArgument for a negative size, an overflow
// or missing sizes.
inline ssize_t compute_numel(const SizesType* sizes, ssize_t dim) {
  return static_cast<ssize_t>(c10::multiply_integers(sizes, sizes + dim));
}
inline runtime::Result<ssize_t> safe_numel(const SizesType* sizes, ssize_t dim) {
  ET_CHECK_OR_RETURN_ERROR(dim == 0 || sizes != nullptr, InvalidArgument,
                           "tensor of rank %zd: expected sizes, got null", dim);
  ssize_t numel = 1;
  for (ssize_t i = 0; i < dim; ++i) {
    ET_CHECK_OR_RETURN_ERROR(
        sizes[i] >= 0 && !c10::mul_overflows(numel, static_cast<ssize_t>(sizes[i]), &numel), InvalidArgument,
        "size %zd: negative, or too many elements", i);
  }
  return numel;
}

// Conversion specifications for PyTorch's sizes.
#undef ET_PRI_TENSOR_SIZE
#undef ET_PRI_TENSOR_DIM
#undef ET_PRI_TENSOR_NUMEL
#undef ET_PRI_SIZES_AND_STRIDES
#define ET_PRI_TENSOR_SIZE PRId64
#define ET_PRI_TENSOR_DIM PRId64
#define ET_PRI_TENSOR_NUMEL PRId64
#define ET_PRI_SIZES_AND_STRIDES PRId64

#else

// A handle to a tensor, its description, and views. Views do not own their elements: an ArrayRef lives as
// long as the array.
using Tensor = torch::executor::Tensor;
using TensorImpl = torch::executor::TensorImpl;
template <class T>
using ArrayRef = torch::executor::ArrayRef<T>;
using TensorList = ArrayRef<Tensor>;
using IntArrayRef = torch::executor::IntArrayRef;
// Optional arguments of operators: None in the schema is the empty optional.
template <class T>
using OptionalArrayRef = std::optional<torch::executor::ArrayRef<T>>;
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;
// Numbers, enumerations and devices as arguments of operators.
using ScalarType = torch::executor::ScalarType;
using Scalar = torch::executor::Scalar;
using MemoryFormat = torch::executor::MemoryFormat;
using Layout = torch::executor::Layout;
using Device = torch::executor::Device;
using DeviceType = torch::executor::DeviceType;
// The integers of a tensor's description: int32 sizes and strides, uint8 dim order.
using SizesType = torch::executor::Tensor::SizesType;
using DimOrderType = torch::executor::Tensor::DimOrderType;
using StridesType = torch::executor::Tensor::StridesType;
// C++ types of elements. The quantized ones are for storage only.
using Half = torch::executor::Half;
using BFloat16 = torch::executor::BFloat16;
template <class T>
using complex = torch::executor::complex<T>;
using qint8 = torch::executor::qint8;
using quint8 = torch::executor::quint8;
using qint32 = torch::executor::qint32;
using quint4x2 = torch::executor::quint4x2;
using quint2x4 = torch::executor::quint2x4;
// The number of elements of a shape, unchecked and checked.
using torch::executor::compute_numel;
using torch::executor::safe_numel;

#endif

}  // namespace executorch::aten

// The older name of the namespace.
namespace exec_aten = executorch::aten;

// The older name of a list of tensors.
namespace torch::executor {
using TensorList = ::executorch::aten::TensorList;
}
