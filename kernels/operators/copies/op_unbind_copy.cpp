// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Each slice along `dim` as a separate tensor of a rank less.
Error unbind_copy_int_out(KernelContext&, const Tensor& self, int64_t dim, Span<Tensor> out) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const auto size = static_cast<size_t>(self.sizes()[d]);
  RL_CHECK(out.size() == size, Error::InvalidArgument, "out: expected %lu tensors, got %lu",
           static_cast<unsigned long>(size), static_cast<unsigned long>(out.size()));
  const View source = View::of(self);
  for (size_t i = 0; i < size; ++i) {
    RL_TRY(copy_to_out(View(source).select(d, static_cast<ptrdiff_t>(i)), out[i]));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
