// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fast_convert.h"
#include "kernels/shared/sizes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::optimized {

Error _to_dim_order_copy_out(KernelContext& context, const Tensor& self, bool non_blocking,
                             std::optional<Span<const int64_t>> dim_order, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  RL_TRY(fast_convert_to_out(context, self, out));
  return check_dim_order(dim_order, out);
}

}  // namespace rushlight::kernels::optimized
