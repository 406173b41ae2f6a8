// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/sorting/unique.h"

namespace rushlight::kernels {

// The result is always sorted, and inverse indices and counts are always written.
Error unique_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool, bool, bool, Tensor& out0,
                     Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::unique_dim.out");
  return find_unique(context, kTypes, self, {dim, false, true, true}, {out0, out1, &out2});
}

}  // namespace rushlight::kernels
