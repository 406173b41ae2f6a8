// SPDX-License-Identifier: BSD-3-Clause
// What constant padding begins with: checks, and where what stays of the input goes.
#pragma once

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct ConstantPad {
  View source;                                  // what stays: below zero is cut off
  ptrdiff_t start[kTensorDimensionLimit] = {};  // where that begins in the result
};

// Checks all arguments and resizes `out`. Errors: InvalidArgument (amounts, shape of out, value),
// InvalidType.
Error plan_constant_pad(const Tensor& self, Span<const int64_t> pad, const Scalar& value, const Tensor& out,
                        ConstantPad* plan);

// Pads where no back does.
Error pad_constant(const ConstantPad& plan, const Scalar& value, const Tensor& out);

}  // namespace rushlight::kernels
