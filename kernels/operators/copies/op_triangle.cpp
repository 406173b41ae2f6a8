// SPDX-License-Identifier: BSD-3-Clause
// tril and triu: copies matrices, then zeroes every row's span above or below a diagonal. One fill for each
// row index, for all matrices of a batch at once. Diagonal 0 is the main one, and positive ones are to its
// right.
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

enum class Zeros : uint8_t { kAbove, kBelow };

Error copy_triangle(const Tensor& self, int64_t diagonal, Zeros zeros, const Tensor& out) {
  RL_CHECK(self.dim() >= 2, Error::InvalidArgument, "self: expected 2 dimensions at least, got %ld",
           static_cast<long>(self.dim()));
  RL_TRY(copy_to_out(View::of(self), out));
  alignas(16) char zero[16] = {};  // a zero of any dtype
  const View all = View::of(out);
  const size_t row = all.dim - 2;
  const int64_t columns = all.sizes[row + 1];
  const int64_t limit = std::max<int64_t>(all.sizes[row], columns);
  const int64_t shift = std::clamp(diagonal, -limit, limit);
  // The first column to zero above the diagonal, or the end of the columns to zero below it.
  const auto column_of = [=](ptrdiff_t i) {
    return std::clamp<int64_t>(i + shift + (zeros == Zeros::kAbove ? 1 : 0), 0, columns);
  };
  for (ptrdiff_t i = 0, count = 0; i < all.sizes[row]; i += count) {
    // Rows that are alike, before and after the diagonal, are one view.
    const int64_t column = column_of(i);
    for (count = 1; i + count < all.sizes[row] && column_of(i + count) == column;) ++count;
    const auto start = static_cast<ptrdiff_t>(zeros == Zeros::kAbove ? column : 0);
    const auto end = static_cast<ptrdiff_t>(zeros == Zeros::kAbove ? columns : column);
    if (start == end) continue;
    View target = all;
    target.slice(row, i, count).slice(row + 1, start, end - start);
    View source = target;
    source.data = zero;
    for (size_t d = 0; d < source.dim; ++d) source.strides[d] = 0;
    RL_TRY(copy_view(target, source));
  }
  return Error::Ok;
}

}  // namespace

Error tril_out(KernelContext&, const Tensor& self, int64_t diagonal, Tensor& out) {
  return copy_triangle(self, diagonal, Zeros::kAbove, out);
}

Error triu_out(KernelContext&, const Tensor& self, int64_t diagonal, Tensor& out) {
  return copy_triangle(self, diagonal, Zeros::kBelow, out);
}

}  // namespace rushlight::kernels
