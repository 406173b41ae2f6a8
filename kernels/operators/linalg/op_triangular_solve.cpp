// SPDX-License-Identifier: BSD-3-Clause
// Triangular systems by substitution, in place in `out`: about n^2 / 2 multiplications for each right-hand
// side. The other triangle is not read. A zero on the diagonal divides by zero: infinities or NaN, no error.
#include "kernels/checks/selection.h"
#include "kernels/linalg/factorization.h"

namespace rushlight::kernels {

namespace {

struct Triangle {
  bool upper;
  bool unit;
  bool transposed;
  bool left;
};

// Solves T X = B, T^T X = B or X T = B into `out`; returns the broadcast batch.
Error solve(const Tensor& triangles, const Tensor& b, Triangle triangle, const Tensor& out, Shape* batch) {
  RL_TRY(check_dtype(b, triangles.scalar_type(), "B"));
  RL_TRY(check_dtype(out, triangles.scalar_type(), "out"));
  const ptrdiff_t unknowns = triangles.size(triangles.dim() - 1);
  RL_CHECK(b.dim() >= 2 && b.size(b.dim() - (triangle.left ? 2 : 1)) == unknowns, Error::InvalidArgument,
           "B: expected matrices with %ld equations", static_cast<long>(unknowns));
  RL_TRY(broadcast_shape(Shape::of(triangles, 2).span(), Shape::of(b, 2).span(), batch));
  RL_TRY(resize_batched(out, *batch, {b.size(b.dim() - 2), b.size(b.dim() - 1)}));
  // Transposing X T = B gives T^T X^T = B^T.
  const bool flip = triangle.transposed == triangle.left;
  for (size_t n = 0; n < batch_size(*batch); ++n) {
    const MatrixView x = matrix_of(out, *batch, n);
    x.copy(matrix_of(b, *batch, n));
    const MatrixView t = matrix_of(triangles, *batch, n);
    solve_triangular(flip ? t.transposed() : t, triangle.upper != flip, triangle.unit,
                     triangle.left ? x : x.transposed());
  }
  return Error::Ok;
}

}  // namespace

Error linalg_solve_triangular_out(KernelContext&, const Tensor& self, const Tensor& B, bool upper, bool left,
                                  bool unitriangular, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_solve_triangular.out");
  RL_TRY(check_square(self, kTypes, "self"));
  Shape batch;
  return solve(self, B, {upper, unitriangular, false, left}, out, &batch);
}

// M is a copy of A, expanded to the batch, as PyTorch returns it.
Error triangular_solve_X(KernelContext&, const Tensor& self, const Tensor& A, bool upper, bool transpose,
                         bool unitriangular, Tensor& X, Tensor& M) {
  constexpr TypeSet kTypes = selected_types("aten::triangular_solve.X");
  RL_TRY(check_square(A, kTypes, "A"));
  RL_TRY(check_dtype(M, A.scalar_type(), "M"));
  Shape batch;
  RL_TRY(solve(A, self, {upper, unitriangular, transpose, true}, X, &batch));
  const ptrdiff_t rows = A.size(A.dim() - 1);
  RL_TRY(resize_batched(M, batch, {rows, rows}));
  for (size_t n = 0; n < batch_size(batch); ++n) matrix_of(M, batch, n).copy(matrix_of(A, batch, n));
  return Error::Ok;
}

}  // namespace rushlight::kernels
