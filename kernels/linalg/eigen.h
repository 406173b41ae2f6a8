// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues of Hermitian matrices, and singular values. Householder reflections make the matrix tridiagonal
// (or bidiagonal) with real elements; the QR algorithm with implicit shifts makes that diagonal. Reference:
// Golub and Van Loan, "Matrix Computations", 8.3 and 8.6. Cost: about 9 n^3 multiplications with vectors, in
// double.
#pragma once

#include <cstddef>

#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

// Decomposes a Hermitian matrix: eigenvalues in ascending order, eigenvectors as columns. Only one matrix at
// a time; the members are memory that the next matrix reuses.
struct Eigen {
  // Scratch memory, allocated once for a batch of matrices of one size and dtype. The caller writes both
  // triangles of the matrix to `work`; decompose() replaces them by the eigenvectors. Columns of `work` are
  // contiguous.
  MatrixView work;
  MatrixView tau;
  double* values = nullptr;  // eigenvalues, followed by as many off-diagonal elements

  // Allocates the elements of a matrix and four columns, in double. MemoryAllocationFailed.
  Error reserve(KernelContext& context, ScalarType type, ptrdiff_t rows);
  // Computes the eigenvalues, and with `vectors` the eigenvectors.
  void decompose(bool vectors) const;
};

// Decomposes any matrix: a = u diag(values) vh. u has the rows of `a`, vh the columns; their other size is
// the number of singular values (reduced), or both are square (full). Either both have data or neither.
struct Singular {
  MatrixView values;  // one column, in descending order
  MatrixView u;
  MatrixView vh;
  // Scratch memory, allocated once for a batch of matrices of one size and dtype. Columns are contiguous.
  MatrixView work;
  MatrixView right;
  MatrixView core;
  MatrixView tau;  // three columns: factors of the reflections of columns, of rows, and of a QR factorization
  MatrixView column;
  double* diagonal = nullptr;  // diagonal, followed by as many superdiagonal elements

  // Allocates the elements of a matrix and up to eight columns, in double; with vectors also min(rows,
  // columns) squared, twice in builds for speed. MemoryAllocationFailed.
  Error reserve(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns, bool vectors);
  // Computes the singular values of `a`, and u and vh if they have data.
  void decompose(const MatrixView& a) const;
};

}  // namespace rushlight::kernels
