// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/index/nonzero.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The indices of all nonzero elements, in row-major order, [count, rank]. NaN is nonzero, -0 is not; a 0-dim
// tensor gives [0 or 1, 0]. Two passes: the first counts, so that `out` can be resized, the second writes the
// indices.
Error nonzero_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_CHECK(out.scalar_type() == ScalarType::Long, Error::InvalidType, "out: expected dtype int64, got %s",
           to_string(out.scalar_type()));
  auto count = static_cast<SizesType>(count_set(self));
  const SizesType shape[] = {count, static_cast<SizesType>(self.dim())};
  RL_TRY(resize_out(out, shape));
  const auto rank = static_cast<size_t>(self.dim());
  const Span<const SizesType> sizes = self.sizes();
  const ptrdiff_t steps[] = {byte_stride(out, 0), byte_stride(out, 1)};
  char* row = out.mutable_data_ptr<char>();
  for_each_set(self, [&](int64_t position) {
    if (count-- <= 0) return;  // `self` may have changed since the count
    // Splits the row-major position, last dimension first: one division for each, except the first.
    for (size_t d = rank; d-- > 0;) {
      const int64_t size = d > 0 ? sizes[d] : INT64_MAX;
      const int64_t rest = d > 0 ? position / size : 0;
      *reinterpret_cast<int64_t*>(row + static_cast<ptrdiff_t>(d) * steps[1]) = position - rest * size;
      position = rest;
    }
    row += steps[0];
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
