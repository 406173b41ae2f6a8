// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fast_copy.h"
#include "kernels/shared/sizes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::optimized {

Error _to_dim_order_copy_out(KernelContext& context, const Tensor& self, bool non_blocking,
                             std::optional<Span<const int64_t>> dim_order, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  if (self.scalar_type() == out.scalar_type()) {
    RL_TRY(fast_copy_to_out(context, View::of(self), out));
  } else {
    RL_TRY(convert_to_out(View::of(self), out));
  }
  return check_dim_order(dim_order, out);
}

}  // namespace rushlight::kernels::optimized
