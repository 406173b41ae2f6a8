// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/sorting/unique.h"

namespace rushlight::kernels {

// Merges only adjacent equal parts, in their order. With `dim`, inverse indices and counts are always
// written, unless the tensor has only that dimension: then elements are compared, which costs less.
Error unique_consecutive_out(KernelContext& context, const Tensor& self, bool return_inverse,
                             bool return_counts, std::optional<int64_t> dim, Tensor& out0, Tensor& out1,
                             Tensor& out2) {
  if (self.dim() == 1 && dim == 0) dim.reset();
  constexpr TypeSet kTypes = selected_types("aten::unique_consecutive.out");
  return find_unique(context, kTypes, self,
                     {dim, true, return_inverse || dim.has_value(), return_counts || dim.has_value()},
                     {out0, out1, &out2});
}

}  // namespace rushlight::kernels
