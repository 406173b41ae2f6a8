// SPDX-License-Identifier: BSD-3-Clause
// Applies reflections one by one (no WY blocks): O(m n^2), and no scratch memory.
#include "kernels/linalg/householder.h"

#include <algorithm>

namespace rushlight::kernels {

namespace {

// The norm of the elements below the diagonal in column j. hypot() costs several times as much as a sum of
// squares, which suffices unless it overflows or loses digits to underflow.
double norm_below(const MatrixView& a, ptrdiff_t j) {
#ifndef __OPTIMIZE_SIZE__
  // The parts of contiguous complex elements are a column of real ones.
  const ScalarType real = component_type(a.type);
  const auto size = static_cast<ptrdiff_t>(element_size(real));
  const ptrdiff_t count = (a.rows - j - 1) * (a.row_step / size);
  const MatrixView parts = {a.at(j + 1, j), real, count, 1, size, size};
  const double squares = a.has_columns() ? parts.transposed().dot(0, parts, 0, 0, count).real
                                         : a.adjoint().dot(j, a, j, j + 1, a.rows).real;
#else
  const double squares = a.adjoint().dot(j, a, j, j + 1, a.rows).real;
#endif
  if (squares > 1e-280 && squares < 1e300) return std::sqrt(squares);
  double norm = 0;
  for (ptrdiff_t i = j + 1; i < a.rows; ++i) norm = std::hypot(norm, absolute(a.get(i, j)));
  return norm;
}

}  // namespace

// With a the element on the diagonal: beta = -sign(re a) |column|, v = column / (a - beta), tau = (beta - a)
// / beta, as LAPACK's larfg. No norm overflows or underflows.
Number make_reflection(const MatrixView& a, ptrdiff_t j) {
  const Number first = a.get(j, j);
  double rest = norm_below(a, j);
  if (rest == 0 && first.imag == 0) return 0;
  const double length = std::hypot(absolute(first), rest);
  // The sign that makes first - beta a sum of magnitudes, without cancellation.
  const double beta = first.real >= 0 ? -length : length;
  const Number divisor = first - beta;
  a.divide_column(j, divisor, j + 1, a.rows);
  a.set(j, j, beta);
  return {(beta - first.real) / beta, -first.imag / beta};
}

void reflect(const MatrixView& reflections, ptrdiff_t j, Number tau, const MatrixView& b, ptrdiff_t begin) {
  const MatrixView adjoint = reflections.adjoint();
  Number factors[MatrixView::kSums];
  ptrdiff_t most = MatrixView::kSums;
#ifndef __OPTIMIZE_SIZE__
  // Contiguous columns are read twice: few at a time stay in the cache.
  if (b.has_columns()) most = 8;
#endif
  for (ptrdiff_t column = begin; column < b.columns; column += most) {
    const ptrdiff_t count = std::min(b.columns - column, most);
    adjoint.dots(j, b, column, count, j + 1, b.rows, factors);
    for (ptrdiff_t c = 0; c < count; ++c) {
      const Number first = b.get(j, column + c);
      factors[c] = tau * (first + factors[c]);
      b.set(j, column + c, first - factors[c]);
    }
    b.subtract(column, count, reflections, j, factors, j + 1, b.rows);
  }
}

void factor_qr(const MatrixView& a, const MatrixView& tau) {
  for (ptrdiff_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    const Number factor = make_reflection(a, j);
    tau.set(j, 0, factor);
    reflect(a, j, conjugate(factor), a, j + 1);
  }
}

void multiply_q(const MatrixView& reflections, const MatrixView& tau, bool adjoint, const MatrixView& b) {
  for (ptrdiff_t step = 0; step < tau.rows; ++step) {
    // Q is the product of the reflections in order, the first one leftmost.
    const ptrdiff_t j = adjoint ? step : tau.rows - 1 - step;
    const Number factor = tau.get(j, 0);
    reflect(reflections, j, adjoint ? conjugate(factor) : factor, b, 0);
  }
}

void form_q(const MatrixView& reflections, const MatrixView& tau) {
  const MatrixView& q = reflections;
  // Backwards: reflection j is applied to the columns behind j, which are formed already. Column j is its
  // image of unit vector j.
  for (ptrdiff_t j = q.columns; j-- > 0;) {
    const Number factor = j < tau.rows ? tau.get(j, 0) : Number();
    const bool reflects = j < tau.rows;
    if (reflects) reflect(q, j, factor, q, j + 1);
#ifndef __OPTIMIZE_SIZE__
    for (ptrdiff_t i = 0; i < (reflects ? j : q.rows); ++i) q.set(i, j, 0);
    q.set(j, j, Number(1) - factor);
    if (reflects) q.multiply_column(j, -factor, j + 1, q.rows);
#else
    for (ptrdiff_t i = 0; i < q.rows; ++i) {
      Number value;
      if (i == j) value = Number(1) - factor;
      if (i > j && reflects) value = -(factor * q.get(i, j));
      q.set(i, j, value);
    }
#endif
  }
}

}  // namespace rushlight::kernels
