// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/extremum.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error amin_out(KernelContext&, const Tensor& self, Span<const int64_t> dim, bool keepdim, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::amin.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  return extremum_over(kTypes, false, self, all_if_empty(dim), keepdim, out);
}

}  // namespace rushlight::kernels
