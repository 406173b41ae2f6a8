// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/median.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error nanmedian_out(KernelContext&, const Tensor& self, Tensor& out) {
  return median_of_all(selected_types("aten::nanmedian.out"), self, true, out);
}

Error nanmedian_dim_values(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                           Tensor& indices) {
  return median_along(selected_types("aten::nanmedian.dim_values"), self, dim, keepdim, true, values,
                      indices);
}

}  // namespace rushlight::kernels
