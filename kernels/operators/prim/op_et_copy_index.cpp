// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Stores the result of one loop iteration: copy_to[index] = to_copy. A dynamic copy_to is resized to index +
// 1 elements; earlier ones keep their positions in memory, because dimension 0 is outermost. Iteration 0 sets
// the shape of the others.
Error et_copy_index(KernelContext&, Tensor& copy_to, const Tensor& to_copy, int64_t index) {
  RL_TRY(check_same_dtype(copy_to, to_copy, "copy_to and to_copy"));
  const Span<const SizesType> sizes = copy_to.sizes();
  RL_CHECK(copy_to.dim() == to_copy.dim() + 1, Error::InvalidArgument, "copy_to: expected rank %d, got %d",
           static_cast<int>(to_copy.dim()) + 1, static_cast<int>(copy_to.dim()));
  RL_CHECK(index >= 0 && index < INT32_MAX, Error::InvalidArgument, "index: expected 0 at least, got %ld",
           static_cast<long>(index));
  Shape shape;
  shape.push(static_cast<ptrdiff_t>(index) + 1);
  for (const SizesType size : to_copy.sizes()) {
    RL_CHECK(index == 0 || size == sizes[shape.dim], Error::InvalidArgument,
             "to_copy: expected the shape of earlier elements");
    shape.push(size);
  }
  if (copy_to.impl()->shape_dynamism() != TensorShapeDynamism::STATIC) {
    RL_CHECK(copy_to.dim_order()[0] == 0, Error::InvalidArgument,
             "copy_to: expected a dim order with dimension 0 outermost");
    RL_TRY(resize_out(copy_to, shape.span()));
  } else {
    RL_CHECK(index < sizes[0], Error::InvalidArgument, "index: expected less than %ld, got %ld",
             static_cast<long>(sizes[0]), static_cast<long>(index));
    shape.sizes[0] = sizes[0];
    RL_TRY(resize_out(copy_to, shape.span()));
  }
  return copy_view(View::of(copy_to).select(0, static_cast<ptrdiff_t>(index)), View::of(to_copy));
}

}  // namespace rushlight::kernels
