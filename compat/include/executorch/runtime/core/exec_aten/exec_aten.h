// SPDX-License-Identifier: BSD-3-Clause
// The tensor types in one namespace: executorch::aten, and its older name exec_aten. Kernels written with
// these names compile against ExecuTorch's tensors, PyTorch's (ATen mode) and rushlight's. Here they are
// always rushlight's: Tensor and EValue are the objects that its runtime uses, without conversion.
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

// ATen mode, in which the names stand for PyTorch's types.
#ifdef USE_ATEN_LIB
#error "USE_ATEN_LIB: rushlight supports only its own tensors"
#endif

// The namespace of classes that exist once for each kind of tensor; ATen mode has another, so that a process
// can link both. Code may not define it differently here: the library is compiled with `runtime`.
#ifndef ET_RUNTIME_NAMESPACE
#define ET_RUNTIME_NAMESPACE runtime
#endif

namespace executorch::aten {

// Types of the standard library that older code finds here, and the enumeration of shape dynamism.
using executorch::runtime::TensorShapeDynamism;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;

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

}  // namespace executorch::aten

// The older name of the namespace.
namespace exec_aten = executorch::aten;

// The older name of a list of tensors.
namespace torch::executor {
using TensorList = ::executorch::aten::TensorList;
}
