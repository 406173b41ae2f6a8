// SPDX-License-Identifier: BSD-3-Clause
// Functions that are rare and long, as the special functions are: computed in double for every dtype and
// rounded once, so that each is there once, and all share two loops:
//
//   return double_function(kTypes, out, airy, self);
//
// Like all functions on floating numbers they take integers and bool as float32.
#pragma once

#include "kernels/shared/promotion.h"
#include "kernels/shared/selection.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

using UnaryDouble = double (*)(double);
using BinaryDouble = double (*)(double, double);

// `types` are the operator's. Errors: as elementwise(); InvalidType when `out` is not floating.
Error double_function(TypeSet types, const Tensor& out, UnaryDouble f, const Tensor& self);
Error double_function(TypeSet types, const Tensor& out, BinaryDouble f, const Tensor& a, const Tensor& b);

// With a number in place of a tensor, which is rounded to the tensor's type as PyTorch does.
Error double_function(TypeSet types, const Tensor& out, BinaryDouble f, const Scalar& a, const Tensor& b);
Error double_function(TypeSet types, const Tensor& out, BinaryDouble f, const Tensor& a, const Scalar& b);

}  // namespace rushlight::kernels
