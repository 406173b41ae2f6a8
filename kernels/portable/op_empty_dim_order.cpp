// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/sizes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The elements of `out` stay what they are.
Error _empty_dim_order_out(KernelContext&, Span<const int64_t> size,
                           std::optional<Span<const int64_t>> dim_order, Tensor& out) {
  Shape shape;
  RL_TRY(read_sizes(size, &shape));
  RL_TRY(resize_out(out, shape.span()));
  return check_dim_order(dim_order, out);
}

}  // namespace rushlight::kernels
