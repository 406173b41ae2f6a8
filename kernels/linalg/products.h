// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices, and solutions for many right-hand sides, which are mostly products. In builds for
// speed tiles of sums stay in registers.
#pragma once

#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

// target = a b, which must not overlap `target`. Fast if `a` and `b` are in double precision and rows of `b`
// are contiguous.
void multiply(const MatrixView& target, const MatrixView& a, const MatrixView& b);

#ifndef __OPTIMIZE_SIZE__
// Subtracts a b from `target`, whose rows it does not overlap. False, and nothing is done, unless all three
// have one dtype, `target` and `b` contiguous rows, and as many columns as a vector.
bool subtract_product(const MatrixView& target, const MatrixView& a, const MatrixView& b);

// As solve_triangular(), under the same conditions for `b` and its solution.
bool solve_rows(const MatrixView& triangle, bool upper, bool unit, const MatrixView& b);
#endif

}  // namespace rushlight::kernels
