// SPDX-License-Identifier: BSD-3-Clause
// Filling a tensor: a copy of one element with strides of 0.
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Sets every element to `value`, converted to the dtype. Errors: InvalidType (dtype not selected),
// InvalidArgument (the dtype cannot hold the value).
Error fill(const Tensor& out, const Scalar& value);

}  // namespace rushlight::kernels
