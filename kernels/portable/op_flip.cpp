// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/sizes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error flip_out(KernelContext&, const Tensor& self, Span<const int64_t> dims, Tensor& out) {
  uint32_t flipped = 0;
  RL_TRY(read_dims(dims, self.dim(), &flipped));
  View source = View::of(self);
  for (size_t d = 0; d < source.dim; ++d) {
    if ((flipped >> d & 1u) == 0 || source.sizes[d] < 2) continue;
    if (source.data != nullptr) source.data += source.strides[d] * (source.sizes[d] - 1);
    source.strides[d] = -source.strides[d];
  }
  return copy_to_out(source, out);
}

}  // namespace rushlight::kernels
