// SPDX-License-Identifier: BSD-3-Clause
// Jacobi's methods: rotations of pairs of columns until all are orthogonal.
#pragma once

#include <cstddef>

#include "kernels/shared/grid.h"

namespace rushlight::kernels {

// Hermitian A becomes diagonal, its eigenvalues in ascending order, and the columns of `vectors`, where
// it has data, the eigenvectors.
void diagonalize(const Grid& a, const Grid& vectors);

// The columns of A, of which there are no more than rows, become orthogonal and descend in length: these
// lengths are the singular values, which `values`, a column, takes. `right`, where it has data, becomes
// unitary, with the original A = A right^H.
void orthogonalize(const Grid& a, const Grid& values, const Grid& right);

// The singular value decomposition of any matrix. `u` has as many rows, `vh` as many columns as `a`, and
// between them as many as there are singular values, or are square; both or neither have data.
struct Singular {
  Grid values;  // a column
  Grid u;
  Grid vh;
  // Scratch, allocated once for a batch of matrices of one size and type.
  Grid work;
  Grid right;

  // Scratch: the elements of a matrix as doubles, and with vectors min(rows, columns) squared more.
  Error reserve(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns, bool vectors);
  void decompose(const Grid& a) const;
};

}  // namespace rushlight::kernels
