// SPDX-License-Identifier: BSD-3-Clause
// cummax and cummin for any dtype, compiled once: elements are compared by their keys, and moved by size.
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The largest (or smallest) element so far along `dim`, and the last index at which it occurred. From the
// first NaN on all values are NaN. Resizes the results; indices are int64. Errors: InvalidArgument (dim,
// shapes), InvalidType.
Error cumulate_extremum(TypeSet types, const Tensor& self, int64_t dim, bool largest, const Tensor& values,
                        const Tensor& indices);

}  // namespace rushlight::kernels
