// SPDX-License-Identifier: BSD-3-Clause
// QR factorization by Householder reflections in LAPACK's form: reflection j is 1 - tau[j] v v^H, where v is
// 0 above row j, 1 in row j, and column j of the matrix below.
#pragma once

#include <cstddef>

#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

// Computes the reflection that maps column j to a real multiple of the unit vector: stores v below the
// diagonal and that multiple on it. Returns tau.
Number make_reflection(const MatrixView& a, ptrdiff_t j);

// Multiplies the columns of b from `begin` on by reflection j.
void reflect(const MatrixView& reflections, ptrdiff_t j, Number tau, const MatrixView& b, ptrdiff_t begin);

// A = Q R: `a` becomes R (on and above the diagonal) and the reflections (below it); `tau` is a column of
// their factors.
void factor_qr(const MatrixView& a, const MatrixView& tau);

// b becomes Q b, or Q^H b with `adjoint`, where Q is the product of `tau.rows` reflections.
void multiply_q(const MatrixView& reflections, const MatrixView& tau, bool adjoint, const MatrixView& b);

// Replaces the reflections by the first columns of Q.
void form_q(const MatrixView& reflections, const MatrixView& tau);

}  // namespace rushlight::kernels
