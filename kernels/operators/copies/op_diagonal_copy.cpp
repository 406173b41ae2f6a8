// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Copies a diagonal of dimensions dim1 and dim2, which becomes the last dimension. A strided view whose
// stride is the sum of both strides; no loop here. Offsets beyond the matrix give an empty diagonal; they are
// clamped, so that nothing overflows.
Error diagonal_copy_out(KernelContext&, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2,
                        Tensor& out) {
  RL_CHECK(self.dim() >= 2, Error::InvalidArgument, "self: expected 2 dimensions at least, got %ld",
           static_cast<long>(self.dim()));
  size_t row = 0;
  size_t column = 0;
  RL_TRY(normalize_dim(dim1, self.dim(), &row));
  RL_TRY(normalize_dim(dim2, self.dim(), &column));
  RL_CHECK(row != column, Error::InvalidArgument, "dim2: expected another dimension than dim1, got %lu twice",
           log_number(row));
  const View source = View::of(self);
  const int64_t rows = source.sizes[row];
  const int64_t columns = source.sizes[column];
  const auto start = static_cast<ptrdiff_t>(std::clamp(offset, -rows, columns));
  const int64_t length = start >= 0 ? std::min(rows, columns - start) : std::min(rows + start, columns);
  View diagonal = source;
  // Removes the later dimension first, so that the index of the other stays valid.
  diagonal.select(std::max(row, column), 0).select(std::min(row, column), 0);
  diagonal.insert(diagonal.dim, static_cast<SizesType>(length), source.strides[row] + source.strides[column]);
  if (length > 0) diagonal.data += start >= 0 ? start * source.strides[column] : -start * source.strides[row];
  return copy_to_out(diagonal, out);
}

}  // namespace rushlight::kernels
