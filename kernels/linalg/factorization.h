// SPDX-License-Identifier: BSD-3-Clause
// LU and Cholesky factorizations of square matrices, solvers and inverse, all in place. Unblocked: matrices
// of models are small, and the code is compiled once for all dtypes. Cost: O(n^3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/checks/overlap.h"
#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

// Row exchanges in LAPACK's form, applied in order: row i is exchanged with row pivot[i] - 1.
struct Pivots {
  char* data;
  ptrdiff_t step;  // in bytes

  [[nodiscard]] int32_t& operator[](ptrdiff_t i) const {
    return *reinterpret_cast<int32_t*>(data + i * step);
  }
};
// InvalidType unless the pivots are int32; InvalidArgument unless each is in [1, rows].
Error check_pivots(const Tensor& pivots, ptrdiff_t rows);
// The pivots of matrix n of a batch; the last dimension is the pivots of a matrix.
[[nodiscard]] Pivots pivots_of(const Tensor& tensor, const Shape& batch, size_t n);

// A = P L U with partial pivoting: `a` becomes L (unit diagonal, below) and U. Returns 0, or the 1-based
// index of the first zero on the diagonal of U. Continues after a zero pivot, as LAPACK does. `a` may have
// any shape.
int32_t factor_lu(const MatrixView& a, Pivots pivots);

// Scratch in which factor_lu() is fast: in builds for speed a matrix in double precision with contiguous
// columns, unless matrices are small. Otherwise `copy` has no data. MemoryAllocationFailed.
Error allocate_copy(KernelContext& context, const Tensor& a, MatrixView* copy);
// Factors a matrix in `lu`, or in the copy and then copies the factors there. Returns as factor_lu().
int32_t factor_into(const MatrixView& source, const MatrixView& copy, const MatrixView& lu, Pivots pivots);

// Factors every matrix of `a`, or its transpose, into `lu`, and resizes all results: pivots are int32
// [batch..., min(rows, columns)], info int32 [batch...] or null. Scratch as allocate_copy(). InvalidType,
// InvalidArgument (overlap of pivots; with `check_errors` a singular matrix).
Error factor_all(KernelContext& context, const Tensor& a, bool transposed, const Tensor& lu,
                 const Tensor& pivots, const Tensor* info, bool check_errors);

// Solves A x = b, or A^T x = b, in place in `b`, for all of its columns. A zero on the diagonal of U gives
// infinities and NaN.
void solve_lu(const MatrixView& lu, Pivots pivots, bool transposed, const MatrixView& b);

// Sets p to the permutation matrix P of A = P L U.
void set_permutation(const MatrixView& p, Pivots pivots, ptrdiff_t count);

// Solves op(A) X = B, or X op(A) = B if not `left`, into `out` for every matrix of the batch. op transposes
// or conjugates the factored matrix, or both. With `vectors`, B holds vectors. `out` must not overlap the
// pivots. InvalidType, InvalidArgument.
struct Systems {
  bool left = true;
  bool transposed = false;
  bool conjugated = false;
  bool vectors = false;
};
// Precondition: check_pivots().
Error solve_all(const Tensor& lu, const Tensor& pivots, const Tensor& b, Systems systems, const Tensor& out);

// Solves T x = b in place for a triangular matrix; the other triangle is not read.
void solve_triangular(const MatrixView& triangle, bool upper, bool unit, const MatrixView& b);

// A = L L^H: reads the lower triangle of `a` and replaces it by L. Returns 0, or the order of the first
// leading minor that is not positive definite.
int32_t factor_cholesky(const MatrixView& a);

// Inverts `a` in place. `column` and `pivots` are scratch memory for one column. Returns as factor_lu(); the
// inverse of a singular matrix contains infinities and NaN.
int32_t invert(const MatrixView& a, Pivots pivots, const MatrixView& column);

}  // namespace rushlight::kernels
