// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Sets every element to `value`, converted to the element type. InvalidType for an element type that
// this build leaves out.
Error fill(const Tensor& out, const Scalar& value);

}  // namespace rushlight::kernels
