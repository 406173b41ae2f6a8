// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/promotion.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Joins tensors of one shape along a new dimension, one copy each, with conversion to the promoted dtype.
Error stack_out(KernelContext&, Span<const Tensor> tensors, int64_t dim, Tensor& out) {
  RL_CHECK(!tensors.empty(), Error::InvalidArgument, "tensors: expected at least one");
  const Tensor& first = tensors[0];
  RL_CHECK(first.dim() < static_cast<ptrdiff_t>(kTensorDimensionLimit), Error::InvalidArgument,
           "tensors: expected fewer than %d dimensions", static_cast<int>(kTensorDimensionLimit));
  Promotion promotion;
  for (size_t i = 0; i < tensors.size(); ++i) {
    bool fits = tensors[i].dim() == first.dim();
    for (size_t k = 0; fits && k < first.sizes().size(); ++k)
      fits = tensors[i].sizes()[k] == first.sizes()[k];
    RL_CHECK(fits, Error::InvalidArgument, "tensors[%lu]: expected the shape of tensors[0]",
             static_cast<unsigned long>(i));
    promotion.with(tensors[i]);
  }
  RL_TRY(check_can_cast(promotion.type(), out));
  size_t d = 0;
  // The new dimension may also come last, so the range has one value more than that of the tensors.
  RL_TRY(normalize_dim(dim, first.dim() + 1, &d));
  Shape shape;
  for (size_t k = 0; k <= first.sizes().size(); ++k) {
    shape.push(k == d ? static_cast<ptrdiff_t>(tensors.size()) : first.sizes()[k < d ? k : k - 1]);
  }
  RL_TRY(resize_out(out, shape.span()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    RL_TRY(copy_view(View::of(out).select(d, static_cast<ptrdiff_t>(i)), View::of(tensors[i])));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
