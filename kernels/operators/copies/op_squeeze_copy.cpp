// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/sizes.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Removes the dimensions of the mask that have size 1.
Error squeeze(const Tensor& self, uint32_t mask, const Tensor& out) {
  View view = View::of(self);
  for (size_t d = view.dim; d-- > 0;) {
    if ((mask >> d & 1u) != 0 && view.sizes[d] == 1) view.select(d, 0);
  }
  return copy_to_out(view, out);
}

}  // namespace

Error squeeze_copy_out(KernelContext&, const Tensor& self, Tensor& out) { return squeeze(self, ~0u, out); }

Error squeeze_copy_dim_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  uint32_t mask = 0;
  RL_TRY(read_dims({&dim, 1}, self.dim(), &mask));
  return squeeze(self, mask, out);
}

// Other sizes than 1 stay, without an error.
Error squeeze_copy_dims_out(KernelContext&, const Tensor& self, Span<const int64_t> dim, Tensor& out) {
  uint32_t mask = 0;
  RL_TRY(read_dims(dim, self.dim(), &mask));
  return squeeze(self, mask, out);
}

}  // namespace rushlight::kernels
