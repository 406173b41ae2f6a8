// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/slicing.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Slice `index` of a dimension, which vanishes; a negative index counts from the end.
Error select_copy_int_out(KernelContext&, const Tensor& self, int64_t dim, int64_t index, Tensor& out) {
  size_t d = 0;
  ptrdiff_t position = 0;
  RL_TRY(read_position(self, dim, index, &d, &position));
  return copy_to_out(View::of(self).select(d, position), out);
}

}  // namespace rushlight::kernels
