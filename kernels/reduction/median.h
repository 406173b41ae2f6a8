// SPDX-License-Identifier: BSD-3-Clause
// median and nanmedian for any dtype, by selection (sorting/order_statistic.h).
#pragma once

#include "kernels/sorting/order_statistic.h"

namespace rushlight::kernels {

// Index of the median, the lower of two middle elements. Without `ignores_nan`, of the first NaN if there is
// one.
ptrdiff_t position_of_median(const Fiber& fiber, ScalarType type, int64_t ignores_nan, RankScratch scratch);

// The median of all elements, in any layout. An empty tensor gives NaN, converted to the dtype. Resizes `out`
// to rank 0. InvalidType.
Error median_of_all(KernelContext& context, TypeSet types, const Tensor& self, bool ignores_nan,
                    const Tensor& out);

// The median along a dimension, and its index. InvalidArgument, InvalidType.
Error median_along(KernelContext& context, TypeSet types, const Tensor& self, int64_t dim, bool keepdim,
                   bool ignores_nan, const Tensor& values, const Tensor& indices);

}  // namespace rushlight::kernels
