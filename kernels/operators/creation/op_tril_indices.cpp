// SPDX-License-Identifier: BSD-3-Clause
// Row and column indices of one side of a diagonal, row by row, as a tensor of shape [2, n]. Element (i, j)
// belongs to the lower side if j <= i + offset, to the upper one if j >= i + offset. Two passes over the
// rows: the first counts.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::tril_indices.out") | selected_types("aten::triu_indices.out");

// The columns [begin, end) of each row.
struct Triangle {
  int64_t rows, columns, offset;
  bool lower;

  [[nodiscard]] int64_t bound(int64_t column) const {
    return column < 0 ? 0 : (column > columns ? columns : column);
  }
  [[nodiscard]] int64_t begin(int64_t row) const { return lower ? 0 : bound(row + offset); }
  [[nodiscard]] int64_t end(int64_t row) const { return lower ? bound(row + offset + 1) : columns; }
};

Error fill_indices(int64_t rows, int64_t columns, int64_t offset, bool lower, Tensor& out) {
  RL_CHECK(rows >= 0 && rows <= INT32_MAX, Error::InvalidArgument, "row: expected 0 to 2^31 - 1, got %lld",
           static_cast<long long>(rows));
  RL_CHECK(columns >= 0 && columns <= INT32_MAX, Error::InvalidArgument,
           "col: expected 0 to 2^31 - 1, got %lld", static_cast<long long>(columns));
  // Offsets beyond the corners all select the same elements; clamping prevents overflow.
  offset = offset < -rows - 1 ? -rows - 1 : (offset > columns + 1 ? columns + 1 : offset);
  const Triangle triangle{rows, columns, offset, lower};
  int64_t count = 0;
  // Stops early, so that the count itself cannot overflow.
  for (int64_t row = 0; row < rows && count <= INT32_MAX; ++row) {
    count += triangle.end(row) - triangle.begin(row);
  }
  RL_CHECK(count <= INT32_MAX, Error::InvalidArgument, "row, col: more than 2^31 - 1 indices");
  const SizesType sizes[] = {2, static_cast<SizesType>(count)};
  RL_TRY(resize_out(out, sizes));
  return dispatch<(kTypes & types::kIntegral)>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    T* at = out.mutable_data_ptr<T>();
    const auto step = static_cast<ptrdiff_t>(out.strides()[1]);
    const auto to_columns = static_cast<ptrdiff_t>(out.strides()[0]);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = triangle.begin(row); column < triangle.end(row); ++column, at += step) {
        at[0] = static_cast<T>(row);
        at[to_columns] = static_cast<T>(column);
      }
    }
    return Error::Ok;
  });
}

}  // namespace

Error tril_indices_out(KernelContext&, int64_t row, int64_t col, int64_t offset, Tensor& out) {
  return fill_indices(row, col, offset, true, out);
}

Error triu_indices_out(KernelContext&, int64_t row, int64_t col, int64_t offset, Tensor& out) {
  return fill_indices(row, col, offset, false, out);
}

}  // namespace rushlight::kernels
