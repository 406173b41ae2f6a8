// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/sorting/order.h"
#include "kernels/walk/fibers.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The result is always sorted, and of equal elements the first are taken, see rank_fibers(). NaN is the
// largest value. k = 0 gives empty results.
Error topk_values(KernelContext& context, const Tensor& self, int64_t k, int64_t dim, bool largest, bool,
                  Tensor& values, Tensor& indices) {
  constexpr TypeSet kTypes = selected_types("aten::topk.values");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const SizesType size = at_least_1d(self).sizes[d];
  RL_CHECK(k >= 0 && k <= size, Error::InvalidArgument, "k: expected 0 to %ld, got %ld",
           static_cast<long>(size), static_cast<long>(k));
  return rank_fibers(context, kTypes, self, d, static_cast<ptrdiff_t>(k), largest, values, indices);
}

}  // namespace rushlight::kernels
