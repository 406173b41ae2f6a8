// SPDX-License-Identifier: BSD-3-Clause
// max, min and their like of float32: what kernels/shared/extremum.h has, with the same checks. A NaN wins
// over every number, the first of equals over the others.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/shared/reduce.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `self`, and `out` or `values`, are float32. Errors of all: InvalidArgument (dimensions; no elements there;
// shapes), InvalidType (of indices).
Error float_extremum_over(KernelContext& context, bool largest, const Tensor& self, const DimList& dims,
                          bool keepdim, const Tensor& out);
Error float_extremum_along(KernelContext& context, bool largest, const Tensor& self, int64_t dim,
                           bool keepdim, const Tensor& values, const Tensor& indices);
Error float_arg_extremum(KernelContext& context, bool largest, const Tensor& self, std::optional<int64_t> dim,
                         bool keepdim, const Tensor& out);

}  // namespace rushlight::kernels
