// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// repeats[d] copies of `self` along each dimension; leading dimensions may be new.
Error repeat_out(KernelContext&, const Tensor& self, Span<const int64_t> repeats, Tensor& out) {
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(repeats.size() >= rank && repeats.size() <= kTensorDimensionLimit, Error::InvalidArgument,
           "repeats: expected %lu to %lu, got %lu", log_number(rank), log_number(kTensorDimensionLimit),
           log_number(repeats.size()));
  View source = View::of(self);
  while (source.dim < repeats.size()) source.insert(0, 1, 0);
  Shape shape;
  for (size_t d = 0; d < source.dim; ++d) {
    const int64_t size = source.sizes[d];
    RL_CHECK(repeats[d] >= 0 && (size == 0 || repeats[d] <= INT32_MAX / size), Error::InvalidArgument,
             "repeats: expected 0 at least and a result that fits, got %ld", static_cast<long>(repeats[d]));
    shape.push(static_cast<ptrdiff_t>(size == 0 ? 0 : size * repeats[d]));
  }
  RL_CHECK(self.scalar_type() == out.scalar_type(), Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(self.scalar_type()), to_string(out.scalar_type()));
  RL_TRY(resize_out(out, shape.span()));
  if (out.numel() == 0) return Error::Ok;

  // Copies `self` once into the first corner, then doubles the filled part along each dimension in turn:
  // log2(repeats) copies of growing length instead of `repeats` short ones.
  View corner = View::of(out);
  for (size_t d = 0; d < corner.dim; ++d) corner.slice(d, 0, source.sizes[d]);
  RL_TRY(copy_view(corner, source));
  for (size_t d = corner.dim; d-- > 0;) {
    // `corner` is filled with `done` slices along d; the copy reads them and writes the next ones, so the two
    // do not overlap.
    for (ptrdiff_t done = source.sizes[d]; done < shape.sizes[d]; done *= 2) {
      const ptrdiff_t left = shape.sizes[d] - done;
      const ptrdiff_t length = left < done ? left : done;
      View next = corner;
      next.data += done * corner.strides[d];
      next.sizes[d] = static_cast<SizesType>(length);
      RL_TRY(copy_view(next, View(corner).slice(d, 0, length)));
      corner.sizes[d] = static_cast<SizesType>(done + length);
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
