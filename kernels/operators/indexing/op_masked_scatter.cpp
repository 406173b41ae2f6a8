// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/masked_elements.h"
#include "kernels/walk/row_major.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Writes consecutive elements of `source` to the elements of `out` where the mask is true, in row-major
// order. `self` and the mask broadcast; `source` does not, and may have more elements than the mask selects.
// If it has fewer, all of them have been written when the error occurs.
Error masked_scatter_out(KernelContext&, const Tensor& self, const Tensor& mask, const Tensor& source,
                         Tensor& out) {
  RL_TRY(check_same_dtype(self, source, "self and source"));
  RL_TRY(check_mask_dtype(mask));
  Shape shape;
  RL_TRY(broadcast_shape(self.sizes(), mask.sizes(), &shape));
  RL_TRY(copy_to_out(expand_to(View::of(self), shape.span()), out));
  RowMajorCursor next(source);
  size_t taken = 0;
  const size_t element_bytes = self.element_size();
  return for_each_masked(expand_to(View::of(mask), shape.span()), View::of(out), [&](char* element) {
    RL_CHECK(taken < source.numel(), Error::InvalidArgument,
             "source: expected as many elements as mask selects, got %lu", log_number(source.numel()));
    copy_element(element, next.get(), element_bytes);
    next.advance();
    ++taken;
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
