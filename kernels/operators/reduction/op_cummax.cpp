// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/reduction/cumulative_extremum.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error cummax_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  constexpr TypeSet kTypes = selected_types("aten::cummax.out");
  return cumulate_extremum(kTypes, self, dim, true, values, indices);
}

}  // namespace rushlight::kernels
