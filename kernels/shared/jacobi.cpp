// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/jacobi.h"

#include <algorithm>
#include <cfloat>

namespace rushlight::kernels {

namespace {

// They converge quadratically: about ten are enough for any size.
constexpr int kMostSweeps = 40;

// A unitary change of two columns.
struct Rotation {
  double cosine = 1;
  Number sine;

  // The one that makes [[p, between], [conjugate(between), q]] diagonal.
  static Rotation diagonalizing(double p, double q, Number between) {
    const double size = absolute(between);
    const double theta = (q - p) / (2 * size);
    const double tangent = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::hypot(theta, 1));
    Rotation rotation;
    rotation.cosine = 1 / std::hypot(tangent, 1);
    const double scale = tangent * rotation.cosine / size;
    rotation.sine = {between.real * scale, between.imag * scale};
    return rotation;
  }

  void apply(const Grid& a, ptrdiff_t p, ptrdiff_t q) const {
    for (ptrdiff_t i = 0; i < a.rows; ++i) {
      const Number x = a.get(i, p);
      const Number y = a.get(i, q);
      a.set(i, p, x * cosine - y * conjugate(sine));
      a.set(i, q, x * sine + y * cosine);
    }
  }
};

// Calls turn(p, q) for every pair of columns, again and again until it turned none.
template <class Turn>
void sweep(ptrdiff_t columns, Turn turn) {
  bool turned = true;
  for (int count = 0; turned && count < kMostSweeps; ++count) {
    turned = false;
    for (ptrdiff_t p = 0; p < columns; ++p) {
      for (ptrdiff_t q = p + 1; q < columns; ++q) turned = turn(p, q) || turned;
    }
  }
}

double squared_length(const Grid& a, ptrdiff_t j) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < a.rows; ++i) sum += squared(a.get(i, j));
  return sum;
}

// Column j becomes orthogonal to those before it, and of length 1; false when hardly anything is left.
bool make_orthonormal(const Grid& a, ptrdiff_t j) {
  const Grid adjoint = a.adjoint();
  // What rounding leaves of the first round goes in the second.
  for (int round = 0; round < 2; ++round) {
    for (ptrdiff_t k = 0; k < j; ++k) {
      const Number part = adjoint.dot(k, a, j, 0, a.rows);
      for (ptrdiff_t i = 0; i < a.rows; ++i) a.set(i, j, a.get(i, j) - a.get(i, k) * part);
    }
  }
  const double length = std::sqrt(squared_length(a, j));
  // Of some unit vector more than this is left, while there are columns missing.
  if (!(length * length * 2 * static_cast<double>(a.rows) > 1)) return false;
  for (ptrdiff_t i = 0; i < a.rows; ++i) a.set(i, j, a.get(i, j) / length);
  return true;
}

// Columns from `begin` on become such that all are orthonormal.
void complete_basis(const Grid& a, ptrdiff_t begin) {
  ptrdiff_t unit = 0;
  for (ptrdiff_t j = begin; j < a.columns; ++j) {
    bool found = false;
    for (; !found && unit < a.rows; ++unit) {
      for (ptrdiff_t i = 0; i < a.rows; ++i) a.set(i, j, i == unit ? 1 : 0);
      found = make_orthonormal(a, j);
    }
  }
}

}  // namespace

void diagonalize(const Grid& a, const Grid& vectors) {
  const ptrdiff_t n = a.rows;
  if (vectors.data != nullptr) vectors.set_identity();
  double scale = 0;
  for (ptrdiff_t j = 0; j < n; ++j) scale += squared_length(a, j);
  const double negligible = DBL_EPSILON * DBL_EPSILON * scale / static_cast<double>(n * n + 1);
  sweep(n, [&](ptrdiff_t p, ptrdiff_t q) {
    const Number between = a.get(p, q);
    if (!(squared(between) > negligible)) return false;
    const Rotation rotation = Rotation::diagonalizing(a.get(p, p).real, a.get(q, q).real, between);
    rotation.apply(a, p, q);
    rotation.apply(a.adjoint(), p, q);
    a.set(p, q, 0);
    a.set(q, p, 0);
    if (vectors.data != nullptr) rotation.apply(vectors, p, q);
    return true;
  });
  for (ptrdiff_t i = 0; i < n; ++i) {
    ptrdiff_t least = i;
    for (ptrdiff_t j = i + 1; j < n; ++j) {
      if (a.get(j, j).real < a.get(least, least).real) least = j;
    }
    const double value = a.get(i, i).real;
    a.set(i, i, a.get(least, least).real);
    a.set(least, least, value);
    if (vectors.data != nullptr) vectors.transposed().swap_rows(i, least);
  }
}

void orthogonalize(const Grid& a, const Grid& values, const Grid& right) {
  if (right.data != nullptr) right.set_identity();
  const Grid adjoint = a.adjoint();
  sweep(a.columns, [&](ptrdiff_t p, ptrdiff_t q) {
    const Number between = adjoint.dot(p, a, q, 0, a.rows);
    const double length_p = squared_length(a, p);
    const double length_q = squared_length(a, q);
    const double least = DBL_EPSILON * std::sqrt(length_p) * std::sqrt(length_q);
    if (!(absolute(between) > least)) return false;
    const Rotation rotation = Rotation::diagonalizing(length_p, length_q, between);
    rotation.apply(a, p, q);
    if (right.data != nullptr) rotation.apply(right, p, q);
    return true;
  });
  for (ptrdiff_t j = 0; j < a.columns; ++j) values.set(j, 0, std::sqrt(squared_length(a, j)));
  for (ptrdiff_t i = 0; i < a.columns; ++i) {
    ptrdiff_t most = i;
    for (ptrdiff_t j = i + 1; j < a.columns; ++j) {
      if (values.get(j, 0).real > values.get(most, 0).real) most = j;
    }
    values.swap_rows(i, most);
    a.transposed().swap_rows(i, most);
    if (right.data != nullptr) right.transposed().swap_rows(i, most);
  }
}

Error Singular::reserve(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                        bool vectors) {
  const ptrdiff_t count = std::min(rows, columns);
  RL_TRY(allocate_grid(context, exact_type(type), std::max(rows, columns), count, &work));
  if (vectors) RL_TRY(allocate_grid(context, exact_type(type), count, count, &right));
  return Error::Ok;
}

void Singular::decompose(const Grid& a) const {
  const bool wide = a.rows < a.columns;
  work.copy(wide ? a.adjoint() : a);
  orthogonalize(work, values, right);
  if (right.data == nullptr) return;
  // The adjoint of U S V^H is V S U^H.
  const Grid lengthy = wide ? vh.adjoint() : u;
  const Grid other = wide ? u : vh.adjoint();
  other.copy(right);
  const double least =
      values.rows == 0 ? 0
                       : DBL_EPSILON * static_cast<double>(work.rows) * std::sqrt(squared_length(work, 0));
  ptrdiff_t known = 0;
  for (; known < work.columns; ++known) {
    const double length = std::sqrt(squared_length(work, known));
    if (!(length > least)) break;
    for (ptrdiff_t i = 0; i < work.rows; ++i) {
      lengthy.set(i, known, work.get(i, known) / length);
    }
  }
  complete_basis(lengthy, known);
}

}  // namespace rushlight::kernels
