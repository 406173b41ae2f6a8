// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Pieces of `split_size` slices, the last one possibly shorter. One strided copy each; `out` has as many
// tensors as pieces.
Error split_copy_Tensor_out(KernelContext&, const Tensor& self, int64_t split_size, int64_t dim,
                            Span<Tensor> out) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const int64_t size = self.sizes()[d];
  RL_CHECK(split_size > 0 || (split_size == 0 && size == 0), Error::InvalidArgument,
           "split_size: expected 1 at least, got %ld", static_cast<long>(split_size));
  // An empty dimension still has one piece.
  const int64_t pieces = size == 0 ? 1 : (size - 1) / split_size + 1;
  RL_CHECK(out.size() == static_cast<size_t>(pieces), Error::InvalidArgument,
           "out: expected %ld tensors, got %lu", static_cast<long>(pieces),
           static_cast<unsigned long>(out.size()));
  const View source = View::of(self);
  int64_t start = 0;
  for (Tensor& piece : out) {
    const int64_t length = size - start < split_size ? size - start : split_size;
    RL_TRY(copy_to_out(View(source).slice(d, static_cast<ptrdiff_t>(start), static_cast<ptrdiff_t>(length)),
                       piece));
    start += length;
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
