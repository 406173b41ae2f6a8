// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/reduction/median.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// As median, but over the elements that are not NaN; NaN only if there are none.
Error nanmedian_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::nanmedian.out");
  return median_of_all(context, kTypes, self, true, out);
}

Error nanmedian_dim_values(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                           Tensor& values, Tensor& indices) {
  constexpr TypeSet kTypes = selected_types("aten::nanmedian.dim_values");
  return median_along(context, kTypes, self, dim, keepdim, true, values, indices);
}

}  // namespace rushlight::kernels
