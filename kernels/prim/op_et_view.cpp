// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/sizes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::kernels {

// Makes `out`, a tensor without memory of its own, a view of `self`. It is passed as a value because
// every other tensor that a kernel gets has memory.
Error et_view(KernelContext&, const Tensor& self, Span<const int64_t> size, EValue& out) {
  RL_CHECK(out.is_tensor(), Error::InvalidType, "out: expected a tensor, got %s", to_string(out.tag));
  const Tensor view = out.to_tensor();
  RL_TRY(check_same_dtype(self, view, "self and out"));
  // Elements keep their places in memory, so their order has to be that of the indices.
  RL_CHECK(is_contiguous_dim_order(self.dim_order()) && is_contiguous_dim_order(view.dim_order()),
           Error::InvalidArgument, "self and out: expected a contiguous dim order");
  Shape shape;
  RL_TRY(infer_sizes(size, self.numel(), &shape));
  RL_CHECK(view.impl()->make_view(*self.impl(), shape.span()) == Error::Ok, Error::InvalidArgument,
           "out: does not take the sizes");
  return Error::Ok;
}

}  // namespace rushlight::kernels
