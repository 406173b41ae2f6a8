// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/index/combine.h"
#include "kernels/index/index_update.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Combines slice i of `source` into slice index[i] of `out` along `dim`: prod, mean, amax or amin. Without
// include_self the old values of indexed slices do not count. For sums PyTorch has index_add, so they are
// refused here.
Error index_reduce_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& source, std::string_view reduce, bool include_self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::index_reduce.out");
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  Combine how;
  RL_TRY(read_combine(reduce, &how));
  RL_CHECK(how != Combine::kSum, Error::InvalidArgument,
           "reduce: expected prod, mean, amax or amin, got sum");
  IndexUpdate update;
  RL_TRY(update.plan(self, dim, index, source, out));
  return combine_indexed(context,
                         {update.index, update.target, update.source, update.dim, how, include_self});
}

}  // namespace rushlight::kernels
