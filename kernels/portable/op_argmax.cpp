// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/extremum.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error argmax_out(KernelContext&, const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::argmax.out");
  return arg_extremum(kTypes, true, self, dim, keepdim, out);
}

}  // namespace rushlight::kernels
