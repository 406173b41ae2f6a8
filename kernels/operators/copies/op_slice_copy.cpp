// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/slicing.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Positions start, start + step, ... below end, as in Python: negative ones count from the end, and all are
// clamped.
Error slice_copy_Tensor_out(KernelContext&, const Tensor& self, int64_t dim, std::optional<int64_t> start,
                            std::optional<int64_t> end, int64_t step, Tensor& out) {
  Slice slice;
  RL_TRY(read_slice(self, dim, start, end, step, &slice));
  return copy_to_out(View::of(self).slice(slice.dim, slice.start, slice.length, slice.step), out);
}

}  // namespace rushlight::kernels
