// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/sorting/order.h"
#include "kernels/walk/fibers.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::sort.values") | selected_types("aten::sort.values_stable");

}  // namespace

// The sort is stable for every value of `stable`, see rank_fibers(). NaN is the largest value; -0 equals 0.
Error sort_values_stable(KernelContext& context, const Tensor& self, std::optional<bool>, int64_t dim,
                         bool descending, Tensor& values, Tensor& indices) {
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  return rank_fibers(context, kTypes, self, d, at_least_1d(self).sizes[d], descending, values, indices);
}

Error sort_values(KernelContext& context, const Tensor& self, int64_t dim, bool descending, Tensor& values,
                  Tensor& indices) {
  return sort_values_stable(context, self, std::nullopt, dim, descending, values, indices);
}

}  // namespace rushlight::kernels
