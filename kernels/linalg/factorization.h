// SPDX-License-Identifier: BSD-3-Clause
// Factorizations of square systems, and solving with their factors; all in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/checks/overlap.h"
#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

// Row exchanges: row i with row pivot - 1, one after the other.
struct Pivots {
  char* data;
  ptrdiff_t step;  // in bytes

  [[nodiscard]] int32_t& operator[](ptrdiff_t i) const {
    return *reinterpret_cast<int32_t*>(data + i * step);
  }
};
// Errors: InvalidType (not int32), InvalidArgument (not row numbers from 1 to `rows`).
Error check_pivots(const Tensor& pivots, ptrdiff_t rows);
[[nodiscard]] Pivots pivots_of(const Tensor& tensor, const Shape& batch, size_t n);

// A becomes L and U, with A = P L U, partially pivoted. Returns 0, or the number from 1 of the first
// zero on the diagonal of U.
int32_t factor_lu(const MatrixView& a, Pivots pivots);

// Factors every matrix of `a`, or its transpose, into `lu`; gives all three their shapes.
Error factor_all(const Tensor& a, bool transposed, const Tensor& lu, const Tensor& pivots, const Tensor* info,
                 bool check_errors);

// b becomes the solution of A x = b, or of A^T x = b.
void solve_lu(const MatrixView& lu, Pivots pivots, bool transposed, const MatrixView& b);

// p becomes the permutation of rows whose product with a matrix undoes the exchanges: the P of A = P L U.
void set_permutation(const MatrixView& p, Pivots pivots, ptrdiff_t count);

// Solves op(A) X = B, or X op(A) = B, into `out`, which may not lie over the pivots, for every matrix of the
// batch: op is the transpose or not, and the conjugate or not, of the matrix that `lu` factors. With
// `vectors`, B holds columns.
struct Systems {
  bool left = true;
  bool transposed = false;
  bool conjugated = false;
  bool vectors = false;
};
Error solve_all(const Tensor& lu, const Tensor& pivots, const Tensor& b, Systems systems, const Tensor& out);

// b becomes the solution of T x = b for a triangular matrix; the other triangle is not read.
void solve_triangular(const MatrixView& triangle, bool upper, bool unit, const MatrixView& b);

// The lower triangle of A, which is all that is read, becomes L with A = L L^H. Returns 0, or the order
// of the first minor that is not positive definite.
int32_t factor_cholesky(const MatrixView& a);

// A becomes its inverse. `column` holds one column, `pivots` as many numbers. Returns as factor_lu.
int32_t invert(const MatrixView& a, Pivots pivots, const MatrixView& column);

}  // namespace rushlight::kernels
