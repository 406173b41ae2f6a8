// SPDX-License-Identifier: BSD-3-Clause
// Gradient of max pooling: adds each output gradient to the element that the recorded index selects. The
// window arguments only prove the shape of grad_output; unpool() checks each index against the image. Cost:
// one addition for each output.
#include "kernels/checks/selection.h"
#include "kernels/geometry/pooling.h"
#include "kernels/geometry/unpool.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

Error max_pool_backward(TypeSet types, size_t spatial, const Tensor& grad_output, const Tensor& self,
                        const PoolArguments& arguments, const Tensor& indices, const Tensor& grad_input) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(grad_output, self, "grad_output and self"));
  Window windows[kVolume];
  RL_TRY(plan_windows(self, arguments, spatial, windows));
  RL_TRY(check_shape(grad_output, pooled_shape(self, {windows, spatial}).span(), "grad_output"));
  RL_TRY(resize_out(grad_input, self.sizes()));
  return unpool(Unpooling::kAdd, spatial, grad_output, indices, grad_input);
}

}  // namespace

Error max_pool2d_with_indices_backward_grad_input(KernelContext&, const Tensor& grad_output,
                                                  const Tensor& self, Span<const int64_t> kernel_size,
                                                  Span<const int64_t> stride, Span<const int64_t> padding,
                                                  Span<const int64_t> dilation, bool ceil_mode,
                                                  const Tensor& indices, Tensor& grad_input) {
  constexpr TypeSet kTypes = selected_types("aten::max_pool2d_with_indices_backward.grad_input");
  return max_pool_backward(kTypes, 2, grad_output, self, {kernel_size, stride, padding, dilation, ceil_mode},
                           indices, grad_input);
}

Error max_pool3d_with_indices_backward_grad_input(KernelContext&, const Tensor& grad_output,
                                                  const Tensor& self, Span<const int64_t> kernel_size,
                                                  Span<const int64_t> stride, Span<const int64_t> padding,
                                                  Span<const int64_t> dilation, bool ceil_mode,
                                                  const Tensor& indices, Tensor& grad_input) {
  constexpr TypeSet kTypes = selected_types("aten::max_pool3d_with_indices_backward.grad_input");
  return max_pool_backward(kTypes, 3, grad_output, self, {kernel_size, stride, padding, dilation, ceil_mode},
                           indices, grad_input);
}

}  // namespace rushlight::kernels
