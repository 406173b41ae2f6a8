// SPDX-License-Identifier: BSD-3-Clause
// LU factorizations with partial pivoting, about 2/3 n^3 operations a matrix, their unpacking and solutions
// from them. Factors and pivots have LAPACK's layout: U above, L without its unit diagonal below.
#include <algorithm>

#include "kernels/checks/selection.h"
#include "kernels/linalg/factorization.h"

namespace rushlight::kernels {

namespace {

// PyTorch supports factors without pivots on CUDA only.
Error check_pivoting(bool pivot) {
  RL_CHECK(pivot, Error::NotSupported, "pivot: expected true; without pivots there are no stable factors");
  return Error::Ok;
}

// U with zeros below the diagonal. `upper` may be `lu` itself.
void take_upper(const MatrixView& lu, const MatrixView& upper) {
  upper.copy_band(lu.leading(upper.rows, upper.columns), 0, upper.columns);
}

// The lower triangle with ones on its diagonal. `lower` may be `lu` itself.
void take_lower(const MatrixView& lu, const MatrixView& lower) {
  lower.copy_band(lu.leading(lower.rows, lower.columns), -lower.rows, -1);
  for (ptrdiff_t i = 0; i < lower.columns; ++i) lower.set(i, i, 1);
}

}  // namespace

// The packed factors; `info` is 0, or the first zero pivot, at which U is singular. The factorization is
// complete anyway.
Error linalg_lu_factor_ex_out(KernelContext& context, const Tensor& A, bool pivot, bool check_errors,
                              Tensor& LU, Tensor& pivots, Tensor& info) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_lu_factor_ex.out");
  RL_TRY(check_matrices(A, kTypes, "A"));
  RL_TRY(check_pivoting(pivot));
  return factor_all(context, A, false, LU, pivots, &info, check_errors);
}

// Scratch: an int32 for each pivot of one matrix, and as allocate_copy().
Error linalg_lu_out(KernelContext& context, const Tensor& A, bool pivot, Tensor& P, Tensor& L, Tensor& U) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_lu.out");
  RL_TRY(check_matrices(A, kTypes, "A"));
  RL_TRY(check_pivoting(pivot));
  RL_TRY(check_dtype(P, A.scalar_type(), "P"));
  RL_TRY(check_dtype(L, A.scalar_type(), "L"));
  RL_TRY(check_dtype(U, A.scalar_type(), "U"));
  const Shape batch = Shape::of(A, 2);
  const ptrdiff_t rows = A.size(A.dim() - 2);
  const ptrdiff_t columns = A.size(A.dim() - 1);
  const ptrdiff_t count = std::min(rows, columns);
  RL_TRY(resize_batched(P, batch, {rows, rows}));
  RL_TRY(resize_batched(L, batch, {rows, count}));
  RL_TRY(resize_batched(U, batch, {count, columns}));
  MatrixView numbers;
  RL_TRY(allocate_matrix(context, ScalarType::Float, count, 1, &numbers));
  MatrixView copy;
  RL_TRY(allocate_copy(context, A, &copy));
  const Pivots pivots{numbers.data, sizeof(int32_t)};
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView lower = matrix_of(L, batch, n);
    const MatrixView upper = matrix_of(U, batch, n);
    // Factors in the larger of L and U, which has the size of A. That one is unpacked last, in place.
    const bool in_lower = rows >= columns;
    const MatrixView both = in_lower ? lower : upper;
    factor_into(matrix_of(A, batch, n), copy, both, pivots);
    if (in_lower) take_upper(both, upper);
    take_lower(both, lower);
    if (!in_lower) take_upper(both, upper);
    set_permutation(matrix_of(P, batch, n), pivots, count);
  }
  return Error::Ok;
}

// P, L and U from packed factors, each only if requested, otherwise empty.
Error lu_unpack_out(KernelContext&, const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data,
                    bool unpack_pivots, Tensor& P, Tensor& L, Tensor& U) {
  constexpr TypeSet kTypes = selected_types("aten::lu_unpack.out");
  RL_TRY(check_matrices(LU_data, kTypes, "LU_data"));
  RL_TRY(check_dtype(P, LU_data.scalar_type(), "P"));
  RL_TRY(check_dtype(L, LU_data.scalar_type(), "L"));
  RL_TRY(check_dtype(U, LU_data.scalar_type(), "U"));
  const Shape batch = Shape::of(LU_data, 2);
  const ptrdiff_t rows = LU_data.size(LU_data.dim() - 2);
  const ptrdiff_t columns = LU_data.size(LU_data.dim() - 1);
  const ptrdiff_t count = std::min(rows, columns);
  if (unpack_pivots) {
    RL_TRY(check_pivots(LU_pivots, rows));
    RL_CHECK(LU_pivots.dim() + 1 == LU_data.dim() && LU_pivots.size(LU_pivots.dim() - 1) == count,
             Error::InvalidArgument, "LU_pivots: expected %ld for each matrix", static_cast<long>(count));
    // A batch dimension of size 1 broadcasts.
    for (ptrdiff_t d = 0; d + 1 < LU_pivots.dim(); ++d) {
      RL_CHECK(LU_pivots.size(d) == LU_data.size(d) || LU_pivots.size(d) == 1, Error::InvalidArgument,
               "LU_pivots: expected as many as matrices in dimension %ld, got %ld and %ld",
               static_cast<long>(d), static_cast<long>(LU_pivots.size(d)),
               static_cast<long>(LU_data.size(d)));
    }
    RL_TRY(resize_batched(P, batch, {rows, rows}));
  } else {
    RL_TRY(resize_batched(P, Shape(), {0}));
  }
  if (unpack_data) {
    RL_TRY(resize_batched(L, batch, {rows, count}));
    RL_TRY(resize_batched(U, batch, {count, columns}));
  } else {
    RL_TRY(resize_batched(L, Shape(), {0}));
    RL_TRY(resize_batched(U, Shape(), {0}));
  }
  // Pivots are checked once and then read again, so no result may overwrite them.
  for (const Tensor* written : {&P, &L, &U}) RL_TRY(check_no_overlap(LU_pivots, *written, "LU_pivots"));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    if (unpack_data) {
      take_lower(matrix_of(LU_data, batch, n), matrix_of(L, batch, n));
      take_upper(matrix_of(LU_data, batch, n), matrix_of(U, batch, n));
    }
    if (unpack_pivots) set_permutation(matrix_of(P, batch, n), pivots_of(LU_pivots, batch, n), count);
  }
  return Error::Ok;
}

// A^H is requested for `adjoint`: transposed and conjugated.
Error linalg_lu_solve_out(KernelContext&, const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                          bool adjoint, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_lu_solve.out");
  RL_TRY(check_square(LU, kTypes, "LU"));
  const ptrdiff_t rows = LU.size(LU.dim() - 1);
  RL_TRY(check_pivots(pivots, rows));
  RL_CHECK(pivots.dim() + 1 == LU.dim() && pivots.size(pivots.dim() - 1) == rows, Error::InvalidArgument,
           "pivots: expected %ld for each matrix", static_cast<long>(rows));
  for (ptrdiff_t d = 0; d + 1 < pivots.dim(); ++d) {
    RL_CHECK(pivots.size(d) == LU.size(d), Error::InvalidArgument,
             "pivots: expected as many as matrices in dimension %ld, got %ld and %ld", static_cast<long>(d),
             static_cast<long>(pivots.size(d)), static_cast<long>(LU.size(d)));
  }
  // Every pivot is in range, so the row exchanges stay inside B.
  return solve_all(LU, pivots, B, {left, adjoint, adjoint, false}, out);
}

}  // namespace rushlight::kernels
