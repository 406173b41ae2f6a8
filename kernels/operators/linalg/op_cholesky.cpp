// SPDX-License-Identifier: BSD-3-Clause
// Cholesky factors L L^H = A (or U^H U = A), and solutions and inverses from them. Factors are computed in
// place in `out`; about n^3 / 3 multiplications a matrix, half of LU's, and no pivoting, which positive
// definite matrices do not need. A matrix that is not positive definite, or has NaN, stops at a minor, whose
// order `info` receives.
#include "kernels/checks/selection.h"
#include "kernels/linalg/factorization.h"

namespace rushlight::kernels {

namespace {

// Factors every matrix of `self` into `out` and zeroes the other triangle. `info` receives for each matrix
// the order of the first minor that is not positive, or 0; with check_errors that is an error.
Error factor(const Tensor& self, bool upper, bool check_errors, const Tensor& out, const Tensor* info) {
  RL_TRY(check_dtype(out, self.scalar_type(), "out"));
  const Shape batch = Shape::of(self, 2);
  RL_TRY(resize_out(out, self.sizes()));
  if (info != nullptr) {
    RL_TRY(check_dtype(*info, ScalarType::Int, "info"));
    RL_TRY(resize_out(*info, batch.span()));
  }
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView matrix = matrix_of(out, batch, n);
    // Copies one triangle and zeroes the other, which the factorization does not read.
    matrix.copy_band(matrix_of(self, batch, n), upper ? 0 : -matrix.rows, upper ? matrix.rows : 0);
    // The adjoint of an upper triangle is a lower one, so one routine factors both.
    const int32_t stopped = factor_cholesky(upper ? matrix.adjoint() : matrix);
    if (info != nullptr) int32_of(*info, batch, n) = stopped;
    RL_CHECK(!check_errors || stopped == 0, Error::InvalidArgument,
             "self: matrix %lu of the batch: its minor of order %ld is not positive definite",
             static_cast<unsigned long>(n), static_cast<long>(stopped));
  }
  return Error::Ok;
}

// Solves L L^H x = b, or U^H U x = b, in place: b is in x. Two substitutions, n^2 multiplications for each
// column. A zero on the diagonal divides by zero: infinities or NaN, no error.
void solve(const MatrixView& factor, bool upper, const MatrixView& x) {
  solve_triangular(upper ? factor.adjoint() : factor, false, false, x);
  solve_triangular(upper ? factor : factor.adjoint(), true, false, x);
}

}  // namespace

Error linalg_cholesky_ex_L(KernelContext&, const Tensor& self, bool upper, bool check_errors, Tensor& L,
                           Tensor& info) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_cholesky_ex.L");
  RL_TRY(check_square(self, kTypes, "self"));
  return factor(self, upper, check_errors, L, &info);
}

Error cholesky_out(KernelContext&, const Tensor& self, bool upper, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::cholesky.out");
  RL_TRY(check_square(self, kTypes, "self"));
  return factor(self, upper, true, out, nullptr);
}

Error cholesky_solve_out(KernelContext&, const Tensor& self, const Tensor& input2, bool upper, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::cholesky_solve.out");
  RL_TRY(check_square(input2, kTypes, "input2"));
  RL_TRY(check_dtype(self, input2.scalar_type(), "self"));
  RL_TRY(check_dtype(out, input2.scalar_type(), "out"));
  RL_CHECK(self.dim() >= 2 && self.size(self.dim() - 2) == input2.size(input2.dim() - 1),
           Error::InvalidArgument, "self: expected matrices with %ld equations",
           static_cast<long>(input2.size(input2.dim() - 1)));
  Shape batch;
  RL_TRY(broadcast_shape(Shape::of(self, 2).span(), Shape::of(input2, 2).span(), &batch));
  RL_TRY(resize_batched(out, batch, {self.size(self.dim() - 2), self.size(self.dim() - 1)}));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView x = matrix_of(out, batch, n);
    x.copy(matrix_of(self, batch, n));
    solve(matrix_of(input2, batch, n), upper, x);
  }
  return Error::Ok;
}

// The inverse as the solution for the identity: n^3 multiplications, also of the zeros.
Error cholesky_inverse_out(KernelContext&, const Tensor& self, bool upper, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::cholesky_inverse.out");
  RL_TRY(check_square(self, kTypes, "self"));
  RL_TRY(check_dtype(out, self.scalar_type(), "out"));
  const Shape batch = Shape::of(self, 2);
  RL_TRY(resize_out(out, self.sizes()));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView x = matrix_of(out, batch, n);
    x.set_identity();
    solve(matrix_of(self, batch, n), upper, x);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
