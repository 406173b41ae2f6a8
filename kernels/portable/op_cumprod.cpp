// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/cumulative.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error cumprod_out(KernelContext&, const Tensor& self, int64_t dim, std::optional<int64_t> dtype,
                  Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::cumprod.out");
  return cumulate(kTypes, Cumulation::kProduct, self, dim, dtype, out);
}

}  // namespace rushlight::kernels
