// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/slicing.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Copies `self` and overwrites the elements of the strided view with `src`. Strides and offset count elements
// of memory, whatever the dim order, and read_strided() proves that they stay inside. Overlapping strides
// write an element more than once; the last write in the order of copy_view() remains.
Error as_strided_scatter_out(KernelContext&, const Tensor& self, const Tensor& src, Span<const int64_t> size,
                             Span<const int64_t> stride, std::optional<int64_t> storage_offset, Tensor& out) {
  View part;
  RL_TRY(read_strided(self, size, stride, storage_offset, &part));
  RL_TRY(check_part_shape(src, part));
  RL_TRY(copy_to_out(View::of(self), out));
  RL_TRY(read_strided(out, size, stride, storage_offset, &part));
  return copy_view(part, View::of(src));
}

}  // namespace rushlight::kernels
