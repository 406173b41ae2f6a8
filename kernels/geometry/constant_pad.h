// SPDX-License-Identifier: BSD-3-Clause
// Constant padding: argument checks, and the layout of the input inside the result.
#pragma once

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A checked problem: where the kept part of the input goes. Holds addresses, not the tensors.
struct ConstantPad {
  View source;                                  // the part of the input that negative amounts do not crop
  ptrdiff_t start[kTensorDimensionLimit] = {};  // its position in the result
};

// Checks all arguments and resizes `out`. `pad` has pairs (before, after), last dimension first, for as many
// dimensions as it names; negative amounts crop. Errors: InvalidArgument (amounts, shape of out, value out of
// range), InvalidType (dtypes differ).
Error plan_constant_pad(const Tensor& self, Span<const int64_t> pad, const Scalar& value, const Tensor& out,
                        ConstantPad* plan);

// The portable code: fills `out` with `value`, then copies the input into it, so the middle of `out` is
// written twice.
Error pad_constant(const ConstantPad& plan, const Scalar& value, const Tensor& out);

}  // namespace rushlight::kernels
