// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/cumulative.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// out[i] = self[0] + ... + self[i] along `dim`. Elements are converted to the dtype of `out` first; integers
// wrap. float32 keeps the running sum in double, 16-bit floats in float, and each output is rounded once.
Error cumsum_out(KernelContext&, const Tensor& self, int64_t dim, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::cumsum.out");
  RL_TRY(check_requested_dtype(dtype, out));
  size_t along = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &along));
  RL_TRY(resize_out(out, self.sizes()));
  return cumulate(kTypes, Cumulation::kSum, self, along, out);
}

}  // namespace rushlight::kernels
