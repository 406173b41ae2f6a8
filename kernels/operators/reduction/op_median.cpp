// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/reduction/median.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The median of all elements: of an even number the lower of the two in the middle, and NaN if any element
// is. By selection, without a change of the input.
Error median_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::median.out");
  return median_of_all(context, kTypes, self, false, out);
}

Error median_dim_values(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                        Tensor& indices) {
  constexpr TypeSet kTypes = selected_types("aten::median.dim_values");
  return median_along(context, kTypes, self, dim, keepdim, false, values, indices);
}

}  // namespace rushlight::kernels
