// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/index/gather.h"

#include "kernels/checks/checks.h"
#include "kernels/index/index.h"

namespace rushlight::kernels {

Error plan_gather(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out, GatherPlan* plan) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(normalize_dim(dim, self.dim(), &plan->dim));
  // An empty index may have any dtype and shape, as in PyTorch.
  plan->is_empty = index.numel() == 0;
  if (plan->is_empty) return resize_out(out, index.sizes());
  plan->source = at_least_1d(self);
  plan->index = at_least_1d(index);
  RL_TRY(check_index_dtype(index));
  RL_TRY(check_index_shape(plan->index, plan->source, plan->dim, "self"));
  RL_TRY(resize_out(out, index.sizes()));
  // The result has the shape of the index, so one walk serves index and result.
  plan->target = at_least_1d(out);
  return Error::Ok;
}

Error plan_index_select(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out,
                        IndexSelectPlan* plan) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(check_index_dtype(index));
  RL_CHECK(index.dim() <= 1, Error::InvalidArgument, "index: expected at most 1 dimension, got %ld",
           static_cast<long>(index.dim()));
  const size_t& d = plan->dim;
  RL_TRY(normalize_dim(dim, self.dim(), &plan->dim));
  // A scalar is treated as one slice, which index 0 selects.
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(rank > 0 || index.numel() == 1, Error::InvalidArgument,
           "index: expected 1 element for a self without dimensions, got %lu", log_number(index.numel()));
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    shape.push(i == d ? static_cast<ptrdiff_t>(index.numel()) : self.sizes()[i]);
  }
  RL_TRY(resize_out(out, shape.span()));
  plan->source = at_least_1d(self);
  plan->target = at_least_1d(out);
  // Innermost first, so that dimensions on each side of `dim` merge.
  for (size_t i = rank; i-- > 0;) {
    const size_t other = self.dim_order()[i];
    if (other == d) continue;
    plan->others.add({static_cast<size_t>(plan->source.sizes[other]), plan->source.strides[other],
                      plan->target.strides[other]});
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
