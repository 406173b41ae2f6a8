// SPDX-License-Identifier: BSD-3-Clause
// QR factorizations by Householder's reflections, as LAPACK stores them: reflection number j is
// 1 - tau[j] v v^H, where v is 0 above row j, 1 there, and column j of a matrix below.
#pragma once

#include <cstddef>

#include "kernels/shared/grid.h"

namespace rushlight::kernels {

// A becomes R on and above the diagonal and the reflections below it, of which `tau`, a column, has the
// factors; A = Q R.
void factor_qr(const Grid& a, const Grid& tau);

// b becomes Q b, or Q^H b, for the Q of `tau.rows` reflections.
void multiply_q(const Grid& reflections, const Grid& tau, bool adjoint, const Grid& b);

// The reflections become the first columns of Q.
void form_q(const Grid& reflections, const Grid& tau);

}  // namespace rushlight::kernels
