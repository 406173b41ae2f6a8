// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sorting/order_statistic.h"

namespace rushlight::kernels {

// Where the lower of the middle elements is. Without `ignores_nan` the first NaN, when there is one.
ptrdiff_t position_of_median(const Fiber& fiber, ScalarType type, int64_t ignores_nan);

// The median of all elements. NaN, or the most negative integer, when there is none.
Error median_of_all(TypeSet types, const Tensor& self, bool ignores_nan, const Tensor& out);

Error median_along(TypeSet types, const Tensor& self, int64_t dim, bool keepdim, bool ignores_nan,
                   const Tensor& values, const Tensor& indices);

}  // namespace rushlight::kernels
