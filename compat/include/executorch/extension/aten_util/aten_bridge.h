// SPDX-License-Identifier: BSD-3-Clause
// Tensors of ExecuTorch and of PyTorch over the same memory, without copies. No function here owns memory or
// keeps it alive, except where it says so.
//
//   at::Tensor given = at::ones({2, 3});
//   TensorPtr input = alias_tensor_ptr_to_attensor(given);     // a tensor for Module::forward
//   at::Tensor result = alias_attensor_to_etensor(outputs->at(0).toTensor());
//
// The functions abort where one kind of tensor cannot describe the other's memory.
#pragma once

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <executorch/extension/aten_util/aten_device.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/portable_type/tensor.h>

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

// The same dtype in the other enumeration. Aborts for a dtype that the other has not.
runtime::etensor::ScalarType torch_to_executorch_scalar_type(caffe2::TypeMeta type);
c10::ScalarType executorch_to_torch_scalar_type(runtime::etensor::ScalarType type);

// Lets `et` use the memory of `at`, which must outlive this use; the memory that `et` had is not freed. Both
// must have the same dtype, sizes and strides, where a dimension of size 1 may have any stride, and `at` must
// be row-major.
void alias_etensor_to_attensor(at::Tensor& at, runtime::etensor::Tensor& et);
// A tensor of PyTorch over the memory of `et`, with its sizes, strides and device. The memory must outlive
// the result; it is not freed.
at::Tensor alias_attensor_to_etensor(const runtime::etensor::Tensor& et);
// A tensor over the memory of `t`, which lives as long as the last copy of the pointer: resizing or freeing
// `t` does not affect it. `t` must be dense: its strides follow from a dim order.
TensorPtr alias_tensor_ptr_to_attensor(at::Tensor& t);

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE

// Older names.
namespace torch::executor::util {
using ::executorch::extension::alias_attensor_to_etensor;
using ::executorch::extension::alias_etensor_to_attensor;
inline ::executorch::runtime::etensor::ScalarType torchToExecuTorchScalarType(caffe2::TypeMeta type) {
  return ::executorch::extension::torch_to_executorch_scalar_type(type);
}
inline c10::ScalarType execuTorchtoTorchScalarType(::executorch::runtime::etensor::ScalarType type) {
  return ::executorch::extension::executorch_to_torch_scalar_type(type);
}
}  // namespace torch::executor::util

namespace torch::util {
using ::torch::executor::util::alias_attensor_to_etensor;
using ::torch::executor::util::alias_etensor_to_attensor;
using ::torch::executor::util::execuTorchtoTorchScalarType;
using ::torch::executor::util::torchToExecuTorchScalarType;
}  // namespace torch::util
