// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/sizes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error permute_copy_out(KernelContext&, const Tensor& self, Span<const int64_t> dims, Tensor& out) {
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(dims.size() == rank, Error::InvalidArgument, "dims: expected %lu dimensions, got %lu",
           static_cast<unsigned long>(rank), static_cast<unsigned long>(dims.size()));
  uint32_t mask = 0;
  RL_TRY(read_dims(dims, self.dim(), &mask));
  const View source = View::of(self);
  View permuted = source;
  for (size_t i = 0; i < rank; ++i) {
    const auto d = static_cast<size_t>(dims[i] < 0 ? dims[i] + self.dim() : dims[i]);
    permuted.sizes[i] = source.sizes[d];
    permuted.strides[i] = source.strides[d];
  }
  return copy_to_out(permuted, out);
}

}  // namespace rushlight::kernels
