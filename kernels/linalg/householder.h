// SPDX-License-Identifier: BSD-3-Clause
// QR factorizations by Householder's reflections, as LAPACK stores them: reflection number j is
// 1 - tau[j] v v^H, where v is 0 above row j, 1 there, and column j of a matrix below.
#pragma once

#include <cstddef>

#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

// Makes reflection number j of column j: below the diagonal the column becomes v, the element on it what the
// column is reflected to, which is real. Returns tau.
Number make_reflection(const MatrixView& a, ptrdiff_t j);

// Columns of b from `begin` on are multiplied by reflection number j.
void reflect(const MatrixView& reflections, ptrdiff_t j, Number tau, const MatrixView& b, ptrdiff_t begin);

// A becomes R on and above the diagonal and the reflections below it, of which `tau`, a column, has the
// factors; A = Q R.
void factor_qr(const MatrixView& a, const MatrixView& tau);

// b becomes Q b, or Q^H b, for the Q of `tau.rows` reflections.
void multiply_q(const MatrixView& reflections, const MatrixView& tau, bool adjoint, const MatrixView& b);

// The reflections become the first columns of Q.
void form_q(const MatrixView& reflections, const MatrixView& tau);

}  // namespace rushlight::kernels
