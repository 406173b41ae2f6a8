// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/sizes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error _to_dim_order_copy_out(KernelContext&, const Tensor& self, bool non_blocking,
                             std::optional<Span<const int64_t>> dim_order, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  RL_TRY(convert_to_out(View::of(self), out));
  return check_dim_order(dim_order, out);
}

}  // namespace rushlight::kernels
