// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/sorting/order_statistic.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// The k-th smallest element along `dim`, NaN being the largest, and its index. Among equal elements the index
// is that of a stable sort. By selection; the input stays unchanged.
Error kthvalue_values(KernelContext& context, const Tensor& self, int64_t k, int64_t dim, bool keepdim,
                      Tensor& values, Tensor& indices) {
  constexpr TypeSet kTypes = selected_types("aten::kthvalue.values");
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const SizesType size = at_least_1d(self).sizes[d];
  RL_CHECK(k >= 1 && k <= size, Error::InvalidArgument, "k: expected 1 to %ld, got %ld",
           static_cast<long>(size), static_cast<long>(k));
  const PositionFunction position = [](const Fiber& fiber, ScalarType type, int64_t rank,
                                       RankScratch scratch) {
    return position_of_rank(fiber, type, static_cast<ptrdiff_t>(rank), scratch);
  };
  return pick_along(context, self, dim, keepdim, position, k - 1, values, indices);
}

}  // namespace rushlight::kernels
