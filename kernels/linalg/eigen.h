// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues of Hermitian matrices and singular values. Householder's reflections make a matrix tridiagonal,
// or bidiagonal, with real elements; the QR algorithm with implicit shifts makes that diagonal (Golub and Van
// Loan, MatrixView Computations, 8.3 and 8.6). About 9 n^3 multiplications with vectors, all in double.
#pragma once

#include <cstddef>

#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

// A Hermitian matrix: its eigenvalues in ascending order and its eigenvectors as columns.
struct Eigen {
  // Scratch, allocated once for a batch of matrices of one size and type. `work` takes the matrix, both
  // triangles of it, and then has the eigenvectors; its columns are contiguous.
  MatrixView work;
  MatrixView tau;
  double* values = nullptr;  // and as many off-diagonal elements behind them

  // Scratch: the elements of a matrix and four columns, as doubles.
  Error reserve(KernelContext& context, ScalarType type, ptrdiff_t rows);
  void decompose(bool vectors) const;
};

// The singular value decomposition of any matrix. `u` has as many rows, `vh` as many columns as `a`, and
// between them as many as there are singular values, or are square; both or neither have data.
struct Singular {
  MatrixView values;  // a column, in descending order
  MatrixView u;
  MatrixView vh;
  // Scratch, allocated once for a batch of matrices of one size and type; columns are contiguous.
  MatrixView work;
  MatrixView right;
  MatrixView tau;  // two columns: factors of the reflections of columns and of rows
  MatrixView column;
  double* diagonal = nullptr;  // and as many elements above it behind them

  // Scratch: the elements of a matrix and up to seven columns, as doubles; with vectors min(rows, columns)
  // squared more.
  Error reserve(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns, bool vectors);
  void decompose(const MatrixView& a) const;
};

}  // namespace rushlight::kernels
