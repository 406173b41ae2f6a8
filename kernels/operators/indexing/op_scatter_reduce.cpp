// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/index/combine.h"
#include "kernels/index/scatter.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Combines src into out along `dim`: sum, prod, mean, amax or amin. Without include_self the old value of
// each indexed element does not count; elements that no index names keep theirs. NaN propagates.
Error scatter_reduce_two_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& src, std::string_view reduce, bool include_self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::scatter_reduce.two_out");
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  Combine how;
  RL_TRY(read_combine(reduce, &how));
  Scatter scatter;
  RL_TRY(scatter.plan(self, dim, index, &src, out));
  if (index.numel() == 0) return Error::Ok;
  return combine_indexed(context,
                         {scatter.index, scatter.target, scatter.source, scatter.dim, how, include_self});
}

}  // namespace rushlight::kernels
