// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Pieces of the given sizes along `dim`, which they must fill exactly. One strided copy each.
Error split_with_sizes_copy_out(KernelContext&, const Tensor& self, Span<const int64_t> split_sizes,
                                int64_t dim, Span<Tensor> out) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  RL_CHECK(split_sizes.size() == out.size(), Error::InvalidArgument, "out: expected %lu tensors, got %lu",
           static_cast<unsigned long>(split_sizes.size()), static_cast<unsigned long>(out.size()));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  int64_t left = self.sizes()[d];
  for (const int64_t size : split_sizes) {
    RL_CHECK(size >= 0 && size <= left, Error::InvalidArgument,
             "split_sizes: expected a size in [0, %ld], got %ld", static_cast<long>(left),
             static_cast<long>(size));
    left -= size;
  }
  RL_CHECK(left == 0, Error::InvalidArgument, "split_sizes: expected %ld more for dimension %lu",
           static_cast<long>(left), static_cast<unsigned long>(d));
  // All sizes have been checked before the first copy.
  const View source = View::of(self);
  ptrdiff_t start = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto length = static_cast<ptrdiff_t>(split_sizes[i]);
    RL_TRY(copy_to_out(View(source).slice(d, start, length), out[i]));
    start += length;
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
