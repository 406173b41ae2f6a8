// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/slicing.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Copies `self` and overwrites the slice [start, end) with step `step` along `dim` with `src`, which has its
// shape.
Error slice_scatter_out(KernelContext&, const Tensor& self, const Tensor& src, int64_t dim,
                        std::optional<int64_t> start, std::optional<int64_t> end, int64_t step, Tensor& out) {
  Slice slice;
  RL_TRY(read_slice(self, dim, start, end, step, &slice));
  RL_TRY(check_part_shape(src, View::of(self).slice(slice.dim, slice.start, slice.length, slice.step)));
  RL_TRY(copy_to_out(View::of(self), out));
  return copy_view(View::of(out).slice(slice.dim, slice.start, slice.length, slice.step), View::of(src));
}

}  // namespace rushlight::kernels
