// SPDX-License-Identifier: BSD-3-Clause
// QR by Householder reflections, in the layout of LAPACK's geqrf: R in the upper triangle, the vectors of the
// reflections below it, their factors in tau. About 2 n^2 (m - n / 3) operations for R, and as many for Q.
// The diagonal of R may be negative, as in LAPACK. Builds for speed compute in scratch memory, in double and
// with contiguous columns, which all steps go along; builds for size in the results.
#include <algorithm>
#include <string_view>

#include "kernels/checks/selection.h"
#include "kernels/linalg/householder.h"

namespace rushlight::kernels {

namespace {

#ifndef __OPTIMIZE_SIZE__
constexpr bool kCopies = true;
#else
constexpr bool kCopies = false;
#endif

// Scratch for a copy of a matrix, unless it is computed in place.
Error allocate_copy(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                    MatrixView* copy) {
  return kCopies ? allocate_columns(context, exact_type(type), rows, columns, copy) : Error::Ok;
}

}  // namespace

// mode: "reduced" [m, k] and [k, n] with k = min(m, n), "complete" [m, m] and [m, n], or "r" with an empty Q.
// Scratch: a column for tau; in builds for speed the larger of A and Q in double precision; in others, with
// mode "r" and more rows than columns, a matrix of the size of A.
Error linalg_qr_out(KernelContext& context, const Tensor& A, std::string_view mode, Tensor& Q, Tensor& R) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_qr.out");
  RL_TRY(check_matrices(A, kTypes, "A"));
  RL_TRY(check_dtype(Q, A.scalar_type(), "Q"));
  RL_TRY(check_dtype(R, A.scalar_type(), "R"));
  const bool complete = mode == "complete";
  const bool has_q = mode != "r";
  RL_CHECK(complete || !has_q || mode == "reduced", Error::InvalidArgument,
           "mode: expected reduced, complete or r, got %.*s", static_cast<int>(mode.size()), mode.data());
  const Shape batch = Shape::of(A, 2);
  const ptrdiff_t rows = A.size(A.dim() - 2);
  const ptrdiff_t columns = A.size(A.dim() - 1);
  const ptrdiff_t count = std::min(rows, columns);
  const ptrdiff_t rank = complete ? rows : count;
  RL_TRY(resize_batched(R, batch, {rank, columns}));
  if (has_q) {
    RL_TRY(resize_batched(Q, batch, {rows, rank}));
  } else {
    RL_TRY(resize_batched(Q, Shape(), {0}));
  }
  MatrixView tau;
  MatrixView scratch;
  RL_TRY(allocate_matrix(context, exact_type(A.scalar_type()), count, 1, &tau));
  // R has as many rows as A: in mode "complete", and if A is not taller than wide.
  const bool in_r = !kCopies && rank == rows;
  RL_TRY(allocate_copy(context, A.scalar_type(), rows, has_q ? std::max(rank, columns) : columns, &scratch));
  if (!kCopies && !in_r && !has_q) {
    RL_TRY(allocate_matrix(context, A.scalar_type(), rows, columns, &scratch));
  }
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView r = matrix_of(R, batch, n);
    const MatrixView q = kCopies || !has_q ? scratch : matrix_of(Q, batch, n);
    // Factors A in R if that has as many rows, otherwise in Q.
    const MatrixView both = in_r ? r : q.leading(rows, columns);
    both.copy(matrix_of(A, batch, n));
    factor_qr(both, tau);
    if (in_r && has_q) q.leading(rows, count).copy(both.leading(rows, count));
    r.copy_band(both.leading(rank, columns), 0, columns);
    if (!has_q) continue;
    const MatrixView formed = q.leading(rows, rank);
    form_q(formed, tau);
    if (kCopies) matrix_of(Q, batch, n).copy(formed);
  }
  return Error::Ok;
}

// The raw factors: reflections and tau as LAPACK returns them. Scratch in builds for speed: a matrix in
// double precision.
Error geqrf_a(KernelContext& context, const Tensor& self, Tensor& a, Tensor& tau) {
  constexpr TypeSet kTypes = selected_types("aten::geqrf.a");
  RL_TRY(check_matrices(self, kTypes, "self"));
  RL_TRY(check_dtype(a, self.scalar_type(), "a"));
  RL_TRY(check_dtype(tau, self.scalar_type(), "tau"));
  const Shape batch = Shape::of(self, 2);
  const ptrdiff_t rows = self.size(self.dim() - 2);
  const ptrdiff_t columns = self.size(self.dim() - 1);
  RL_TRY(resize_out(a, self.sizes()));
  RL_TRY(resize_batched(tau, batch, {std::min(rows, columns)}));
  MatrixView copy;
  RL_TRY(allocate_copy(context, self.scalar_type(), rows, columns, &copy));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView out = matrix_of(a, batch, n);
    const MatrixView& factors = kCopies ? copy : out;
    factors.copy(matrix_of(self, batch, n));
    factor_qr(factors, vector_of(tau, batch, n));
    if (kCopies) out.copy(factors);
  }
  return Error::Ok;
}

namespace {

// Checks that tau has the batch of `reflections` and at most as many factors as those have columns.
Error check_tau(const Tensor& tau, const Tensor& reflections) {
  RL_TRY(check_dtype(tau, reflections.scalar_type(), "tau"));
  bool fits = tau.dim() + 1 == reflections.dim();
  for (ptrdiff_t d = 0; fits && d + 1 < tau.dim(); ++d) fits = tau.size(d) == reflections.size(d);
  const ptrdiff_t rank = reflections.dim();
  const ptrdiff_t most = std::min(reflections.size(rank - 2), reflections.size(rank - 1));
  RL_CHECK(fits && tau.size(tau.dim() - 1) <= most, Error::InvalidArgument,
           "tau: expected at most %ld for each matrix of reflections", static_cast<long>(most));
  return Error::Ok;
}

}  // namespace

// The first columns of Q = H(1) H(2) ... H(k), formed in place in the copy of the reflections. Scratch in
// builds for speed: a matrix in double precision.
Error linalg_householder_product_out(KernelContext& context, const Tensor& input, const Tensor& tau,
                                     Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_householder_product.out");
  RL_TRY(check_matrices(input, kTypes, "input"));
  RL_TRY(check_tau(tau, input));
  RL_CHECK(input.size(input.dim() - 2) >= input.size(input.dim() - 1), Error::InvalidArgument,
           "input: expected at least as many rows as columns");
  RL_TRY(check_dtype(out, input.scalar_type(), "out"));
  RL_TRY(resize_out(out, input.sizes()));
  const Shape batch = Shape::of(input, 2);
  MatrixView copy;
  RL_TRY(allocate_copy(context, input.scalar_type(), input.size(input.dim() - 2), input.size(input.dim() - 1),
                       &copy));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView to = matrix_of(out, batch, n);
    const MatrixView& q = kCopies ? copy : to;
    q.copy(matrix_of(input, batch, n));
    form_q(q, vector_of(tau, batch, n));
    if (kCopies) to.copy(q);
  }
  return Error::Ok;
}

// Multiplies by Q without forming it: Q C, Q^H C, C Q or C Q^H in place in `out`.
Error ormqr_out(KernelContext&, const Tensor& self, const Tensor& input2, const Tensor& input3, bool left,
                bool transpose, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::ormqr.out");
  RL_TRY(check_matrices(self, kTypes, "self"));
  RL_TRY(check_tau(input2, self));
  RL_TRY(check_matrices(input3, kTypes, "input3"));
  RL_TRY(check_dtype(input3, self.scalar_type(), "input3"));
  RL_TRY(check_dtype(out, self.scalar_type(), "out"));
  const ptrdiff_t rows = self.size(self.dim() - 2);
  bool fits = input3.dim() == self.dim() && input3.size(input3.dim() - (left ? 2 : 1)) == rows;
  for (ptrdiff_t d = 0; fits && d + 2 < self.dim(); ++d) fits = input3.size(d) == self.size(d);
  RL_CHECK(fits, Error::InvalidArgument, "input3: expected a matrix for each of self, that fits %ld rows",
           static_cast<long>(rows));
  RL_TRY(copy_matrices(input3, out));
  const Shape batch = Shape::of(self, 2);
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView product = matrix_of(out, batch, n);
    // C Q is the adjoint of Q^H C^H.
    multiply_q(matrix_of(self, batch, n), vector_of(input2, batch, n), transpose == left,
               left ? product : product.adjoint());
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
