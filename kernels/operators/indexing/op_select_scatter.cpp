// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/slicing.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Copies `self` and overwrites one slice, of a rank less, with `src`.
Error select_scatter_out(KernelContext&, const Tensor& self, const Tensor& src, int64_t dim, int64_t index,
                         Tensor& out) {
  size_t d = 0;
  ptrdiff_t position = 0;
  RL_TRY(read_position(self, dim, index, &d, &position));
  RL_TRY(check_part_shape(src, View::of(self).select(d, position)));
  RL_TRY(copy_to_out(View::of(self), out));
  return copy_view(View::of(out).select(d, position), View::of(src));
}

}  // namespace rushlight::kernels
