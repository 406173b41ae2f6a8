// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/slicing.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Copies `self` and overwrites the diagonal [rank - 2 dimensions..., length] with `src`. A positive offset
// starts that many columns to the right, a negative one that many rows down; beyond the matrix the diagonal
// is empty.
Error diagonal_scatter_out(KernelContext&, const Tensor& self, const Tensor& src, int64_t offset,
                           int64_t dim1, int64_t dim2, Tensor& out) {
  size_t rows = 0;
  size_t columns = 0;
  RL_TRY(normalize_dim(dim1, self.dim(), &rows));
  RL_TRY(normalize_dim(dim2, self.dim(), &columns));
  RL_CHECK(rows != columns, Error::InvalidArgument, "dim2: expected another dimension than dim1, got %lu",
           log_number(columns));
  const int64_t down = offset < 0 ? -(offset + 1) : 0;  // -offset - 1, since the least int64 has no opposite
  const int64_t height = self.size(static_cast<ptrdiff_t>(rows));
  const int64_t width = self.size(static_cast<ptrdiff_t>(columns));
  const int64_t tall = offset < 0 ? height - 1 - (down < height ? down : height - 1) : height;
  const int64_t wide = offset > 0 ? width - (offset < width ? offset : width) : width;
  const int64_t length = tall < wide ? tall : wide;
  RL_TRY(copy_to_out(View::of(self), out));
  View diagonal = View::of(out);
  // One step along the diagonal is a step along both dimensions.
  const ptrdiff_t stride = diagonal.strides[rows] + diagonal.strides[columns];
  if (length > 0 && diagonal.data != nullptr) {
    diagonal.data += offset < 0 ? diagonal.strides[rows] * static_cast<ptrdiff_t>(down + 1)
                                : diagonal.strides[columns] * static_cast<ptrdiff_t>(offset);
  }
  // The larger dimension goes first, so that the other keeps its number.
  diagonal.select(rows > columns ? rows : columns, 0).select(rows > columns ? columns : rows, 0);
  diagonal.insert(diagonal.dim, static_cast<SizesType>(length > 0 ? length : 0), stride);
  RL_TRY(check_part_shape(src, diagonal));
  return copy_view(diagonal, View::of(src));
}

}  // namespace rushlight::kernels
