// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/sizes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// `out` is resized and keeps its elements.
Error _empty_dim_order_out(KernelContext&, Span<const int64_t> size,
                           std::optional<Span<const int64_t>> dim_order, Tensor& out) {
  RL_TRY(resize_to(out, size));
  return check_dim_order(dim_order, out);
}

}  // namespace rushlight::kernels
