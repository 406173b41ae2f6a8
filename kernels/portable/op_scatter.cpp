// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/expand.h"
#include "kernels/shared/scalar_range.h"
#include "kernels/shared/scalar_tensor.h"
#include "kernels/shared/scatter.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error scatter_src_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      Tensor& out) {
  Scatter scatter;
  RL_TRY(scatter.plan(self, dim, index, &src, out));
  if (index.numel() == 0) return Error::Ok;
  return copy_indexed(scatter.index, scatter.dim, scatter.target, scatter.source, IndexedCopy::kWrite);
}

Error scatter_value_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                        const Scalar& value, Tensor& out) {
  RL_TRY(check_scalar_range(value, self.scalar_type(), "value"));
  const ScalarTensor number(value, self.scalar_type());
  Scatter scatter;
  RL_TRY(scatter.plan(self, dim, index, nullptr, out));
  if (index.numel() == 0) return Error::Ok;
  scatter.source = expand_to(View::of(number), {scatter.index.sizes, scatter.index.dim});
  return copy_indexed(scatter.index, scatter.dim, scatter.target, scatter.source, IndexedCopy::kWrite);
}

}  // namespace rushlight::kernels
