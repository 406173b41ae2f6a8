// SPDX-License-Identifier: BSD-3-Clause
// im2col (unfold): gathers each window of an image into a column, [N, C * kernel, positions]. One strided
// copy for each element of the window; padding keeps the zeros of the initial memset.
#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/geometry/im2col.h"
#include "kernels/geometry/spatial.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error im2col_out(KernelContext&, const Tensor& self, Span<const int64_t> kernel_size,
                 Span<const int64_t> dilation, Span<const int64_t> padding, Span<const int64_t> stride,
                 Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::im2col.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_spatial_tensor(self, 2, "self"));
  const ptrdiff_t rank = self.dim();
  Window windows[2];
  RL_TRY(plan_im2col({kernel_size, dilation, padding, stride}, self.size(rank - 2), self.size(rank - 1),
                     windows));
  const int64_t volume = windows[0].kernel * windows[1].kernel;
  const int64_t positions = windows[0].out * windows[1].out;
  // The product of channels and window elements must fit in the 32-bit sizes of a tensor. The division is
  // safe: a tensor that passed check_spatial_tensor() has channels.
  RL_CHECK(volume <= kSpatialLimit / self.size(rank - 3) && positions <= kSpatialLimit,
           Error::InvalidArgument, "kernel_size: %lld elements at %lld positions are too many",
           static_cast<long long>(volume), static_cast<long long>(positions));
  Shape shape;
  if (rank == 4) shape.push(self.size(0));
  shape.push(static_cast<ptrdiff_t>(volume) * self.size(rank - 3));
  shape.push(static_cast<ptrdiff_t>(positions));
  RL_TRY(resize_out(out, shape.span()));
  if (out.nbytes() > 0) std::memset(out.mutable_data_ptr(), 0, out.nbytes());
  return for_each_window_element(out, self, windows, copy_view);
}

}  // namespace rushlight::kernels
