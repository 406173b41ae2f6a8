// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/masked_elements.h"
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The elements of `self` where the mask is true, in row-major order of the broadcast shape, as a vector. Two
// passes over the mask: the first counts, so that `out` can be resized, the second copies.
Error masked_select_out(KernelContext&, const Tensor& self, const Tensor& mask, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(check_mask_dtype(mask));
  Shape shape;
  RL_TRY(broadcast_shape(self.sizes(), mask.sizes(), &shape));
  const View masks = expand_to(View::of(mask), shape.span());
  const View source = expand_to(View::of(self), shape.span());
  SizesType count = count_true(masks);
  RL_TRY(resize_out(out, {&count, 1}));
  const size_t element_bytes = self.element_size();
  char* target = out.mutable_data_ptr<char>();
  return for_each_masked(masks, source, [&](const char* element) {
    if (count-- <= 0) return Error::Ok;  // the mask may have changed since the count
    copy_element(target, element, element_bytes);
    target += element_bytes;
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
