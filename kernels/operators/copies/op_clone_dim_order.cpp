// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/sizes.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error _clone_dim_order_out(KernelContext& context, const Tensor& self, bool non_blocking,
                           std::optional<Span<const int64_t>> dim_order, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  const View source = View::of(self);
  RL_TRY(backs::_clone_dim_order_out(context, CopyProblem{source, out},
                                     [&] { return copy_to_out(source, out); }));
  return check_dim_order(dim_order, out);
}

}  // namespace rushlight::kernels
