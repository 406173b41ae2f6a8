// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/sizes.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// `src` broadcast to the sizes of `target`; InvalidArgument if the shapes do not allow it.
Error broadcast_to(const Tensor& src, const Tensor& target, View* view) {
  Shape shape;
  RL_TRY(broadcast_shape(target.sizes(), src.sizes(), &shape));
  bool fits = shape.dim == static_cast<size_t>(target.dim());
  for (size_t d = 0; fits && d < shape.dim; ++d) fits = shape.sizes[d] == target.sizes()[d];
  RL_CHECK(fits, Error::InvalidArgument, "src: does not broadcast to self");
  *view = View::of(src);
  while (view->dim < shape.dim) view->insert(0, 1, 0);
  for (size_t d = 0; d < shape.dim; ++d) {
    if (view->sizes[d] != shape.sizes[d]) view->strides[d] = 0;
    view->sizes[d] = shape.sizes[d];
  }
  return Error::Ok;
}

}  // namespace

// A copy of `src`, broadcast to the shape of `self` and converted to its dtype; the elements of `self` do not
// matter.
Error copy_out(KernelContext&, const Tensor& self, const Tensor& src, bool non_blocking, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  RL_TRY(check_same_dtype(self, out, "self and out"));
  View source;
  RL_TRY(broadcast_to(src, self, &source));
  return convert_to_out(source, out);
}

Error copy_(KernelContext&, Tensor& self, const Tensor& src, bool non_blocking) {
  RL_TRY(check_blocking(non_blocking));
  View source;
  RL_TRY(broadcast_to(src, self, &source));
  return copy_view(View::of(self), source);
}

}  // namespace rushlight::kernels
