// SPDX-License-Identifier: BSD-3-Clause
// A scalar as a 0-dim tensor, so that an operator's Scalar overload runs the same loop as its Tensor
// overload.
#pragma once

#include "runtime/base/result.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Owns its element; converts to Tensor, which must not outlive it.
class ScalarTensor {
 public:
  // Holds `value` converted to `type`; integers wrap, and a complex type gets the imaginary part 0. A type
  // that this build does not have gives 0, and the operator refuses it when it dispatches.
  ScalarTensor(const Scalar& value, ScalarType type);
  ScalarTensor(const ScalarTensor&) = delete;
  ScalarTensor& operator=(const ScalarTensor&) = delete;

  operator const Tensor&() const { return tensor_; }  // NOLINT: implicit by design

 private:
  alignas(8) unsigned char storage_[16] = {};
  TensorImpl impl_;
  Tensor tensor_;
};

// The element of a 0-dim tensor: bool, int64 or double by its dtype. InvalidArgument or InvalidType, naming
// `name`, for other tensors.
Result<Scalar> scalar_of(const Tensor& tensor, const char* name);

}  // namespace rushlight::kernels
