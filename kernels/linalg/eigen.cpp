// SPDX-License-Identifier: BSD-3-Clause
// Unblocked reductions and QR sweeps on the diagonal and off-diagonal, deflating from the end. Rotations are
// applied to the columns of the eigenvectors, which are contiguous. An off-diagonal element is negligible
// relative to its diagonal neighbors (tridiagonal) or to the largest element (bidiagonal).
#include "kernels/linalg/eigen.h"

#include <algorithm>
#include <cfloat>
#include <utility>

#include "kernels/linalg/householder.h"
#include "kernels/linalg/products.h"

namespace rushlight::kernels {

namespace {

// Limit of QR steps for one value; two or three are usual.
constexpr int kMostSteps = 60;

// A Givens rotation that maps (x, z) to (length, 0).
struct Rotation {
  double cosine = 1;
  double sine = 0;
  double length;

  Rotation(double x, double z) : length(std::hypot(x, z)) {
    if (length == 0) return;
    cosine = x / length;
    sine = z / length;
  }

  // Rotates two values. noinline: without an FPU double arithmetic is calls, so inlining saves no time.
  [[gnu::noinline]] void apply(double& x, double& z) const { apply(&x, &z, 1); }

  // Rotates columns p and q of a matrix with contiguous columns of doubles or pairs of doubles; nothing
  // without data.
  void apply(const MatrixView& a, ptrdiff_t p, ptrdiff_t q) const {
    if (a.data == nullptr) return;
    auto* x = reinterpret_cast<double*>(a.data + p * a.column_step);
    auto* z = reinterpret_cast<double*>(a.data + q * a.column_step);
    apply(x, z, a.rows * a.row_step / static_cast<ptrdiff_t>(sizeof(double)));
  }

 private:
  [[gnu::noinline]] void apply(double* x, double* z, ptrdiff_t count) const {
    const double c = cosine;
    const double s = sine;
    for (ptrdiff_t i = 0; i < count; ++i) {
      const double rotated = c * x[i] + s * z[i];
      z[i] = c * z[i] - s * x[i];
      x[i] = rotated;
    }
  }
};

Error allocate_doubles(KernelContext& context, ptrdiff_t count, double** doubles) {
  MatrixView matrix;
  RL_TRY(allocate_matrix(context, ScalarType::Double, count, 1, &matrix));
  *doubles = reinterpret_cast<double*>(matrix.data);
  return Error::Ok;
}

// The matrix without its first row.
MatrixView below_first(const MatrixView& a) {
  MatrixView matrix = a;
  matrix.data += a.row_step;
  matrix.rows = a.rows - 1;
  return matrix;
}

// Forms Q from reflections that start below the first row: the first row and column of Q are as in the
// identity.
void form_shifted_q(const MatrixView& a, const MatrixView& tau) {
  const ptrdiff_t n = a.rows;
  if (n > 1) form_q(below_first(a).leading(n - 1, n - 1), tau.leading(n - 1, 1));
  for (ptrdiff_t j = n; j-- > 0;) {
    for (ptrdiff_t i = 0; i < n; ++i) {
      a.set(i, j, i == 0 || j == 0 ? Number(i == j ? 1 : 0) : a.get(i, j - 1));
    }
  }
}

// One implicit QR step with Wilkinson's shift on rows [first, last] of the tridiagonal matrix with diagonal d
// and off-diagonal e. Applies the rotations to the columns of q.
void step_tridiagonal(double* d, double* e, ptrdiff_t first, ptrdiff_t last, const MatrixView& q) {
  // The shift is the eigenvalue of the last 2x2 block nearer to d[last]:
  //
  //   d[last] - e^2 / (half + sign(half) sqrt(half^2 + e^2)),   e = e[last - 1]
  const double half = (d[last - 1] - d[last]) / 2;
  const double beside = e[last - 1];
  const double root = std::copysign(std::hypot(half, beside), half);
  double x = d[first] - d[last] + beside * (beside / (half + root));
  double z = e[first];
  for (ptrdiff_t k = first; k < last; ++k) {
    const Rotation rotation(x, z);
    if (k > first) e[k - 1] = rotation.length;
    // Rotates [[d[k], e[k]], [e[k], d[k + 1]]] from both sides.
    double upper = e[k];
    double lower = d[k + 1];
    rotation.apply(d[k], e[k]);
    rotation.apply(upper, lower);
    rotation.apply(d[k], upper);
    rotation.apply(e[k], lower);
    d[k + 1] = lower;
    if (k + 1 < last) {
      z = rotation.sine * e[k + 1];
      e[k + 1] *= rotation.cosine;
      x = e[k];
    }
    rotation.apply(q, k, k + 1);
  }
}

// One implicit QR step for B^H B on rows [first, last] of the bidiagonal matrix B with diagonal d and
// superdiagonal e. The shift is an eigenvalue of the last 2x2 block. Applies the rotations to the columns of
// u and v.
void step_bidiagonal(double* d, double* e, ptrdiff_t first, ptrdiff_t last, const MatrixView& u,
                     const MatrixView& v) {
  const double before = last - 1 > first ? e[last - 2] : 0;
  const double corner = d[last] * d[last] + e[last - 1] * e[last - 1];
  const double half = (d[last - 1] * d[last - 1] + before * before - corner) / 2;
  const double beside = d[last - 1] * e[last - 1];
  const double root = std::copysign(std::hypot(half, beside), half);
  const double shift = half + root == 0 ? corner : corner - beside * (beside / (half + root));
  double x = d[first] * d[first] - shift;
  double z = d[first] * e[first];
  for (ptrdiff_t k = first; k < last; ++k) {
    const Rotation rotation_v(x, z);
    if (k > first) e[k - 1] = rotation_v.length;
    rotation_v.apply(d[k], e[k]);
    z = 0;
    rotation_v.apply(z, d[k + 1]);
    rotation_v.apply(v, k, k + 1);
    const Rotation rotation_u(d[k], z);
    d[k] = rotation_u.length;
    rotation_u.apply(e[k], d[k + 1]);
    x = e[k];
    if (k + 1 < last) {
      z = 0;
      rotation_u.apply(z, e[k + 1]);
    }
    rotation_u.apply(u, k, k + 1);
  }
}

// Row `zero` has a zero on its diagonal: rotates it with the rows up to `last` to remove its superdiagonal
// element.
void clear_row(double* d, double* e, ptrdiff_t zero, ptrdiff_t last, const MatrixView& u) {
  double rest = e[zero];
  e[zero] = 0;
  for (ptrdiff_t k = zero + 1; k <= last && rest != 0; ++k) {
    const Rotation rotation(d[k], rest);
    d[k] = rotation.length;
    rest = 0;
    if (k < last) rotation.apply(e[k], rest);
    rotation.apply(u, k, zero);
  }
}

// The first row of the unreduced block that ends at row `last`: no off-diagonal element in it is negligible.
template <class Negligible>
ptrdiff_t block_begin(double* e, ptrdiff_t last, Negligible is_negligible) {
  ptrdiff_t first = last;
  while (first > 0 && !is_negligible(first - 1)) --first;
  if (first > 0) e[first - 1] = 0;
  return first;
}

// Sorts the values, and the columns of the matrices that have data with them. Selection sort: n is small, and
// columns are expensive to move.
void sort(double* values, ptrdiff_t count, bool descending, const MatrixView& first,
          const MatrixView& second) {
  for (ptrdiff_t i = 0; i < count; ++i) {
    ptrdiff_t next = i;
    for (ptrdiff_t j = i + 1; j < count; ++j) {
      if (descending ? values[j] > values[next] : values[j] < values[next]) next = j;
    }
    std::swap(values[i], values[next]);
    if (first.data != nullptr) first.transposed().swap_rows(i, next);
    if (second.data != nullptr) second.transposed().swap_rows(i, next);
  }
}

}  // namespace

// In double (or complex128), whatever the dtype: the result is rounded once at the end.
Error Eigen::reserve(KernelContext& context, ScalarType type, ptrdiff_t rows) {
  RL_TRY(allocate_columns(context, exact_type(type), rows, rows, &work));
  RL_TRY(allocate_matrix(context, exact_type(type), rows, 1, &tau));
  return allocate_doubles(context, 2 * rows, &values);
}

void Eigen::decompose(bool vectors) const {
  const ptrdiff_t n = work.rows;
  if (n == 0) return;
  // A becomes H^H A H for each reflection H.
  const MatrixView lower = below_first(work);
  for (ptrdiff_t j = 0; j + 1 < n; ++j) {
    const Number factor = make_reflection(lower, j);
    tau.set(j, 0, factor);
    reflect(lower, j, conjugate(factor), lower, j + 1);
    reflect(lower, j, conjugate(factor), below_first(work.adjoint()), j + 1);
  }
  double* d = values;
  double* e = values + n;
  for (ptrdiff_t i = 0; i < n; ++i) {
    d[i] = work.get(i, i).real;
    e[i] = i + 1 < n ? work.get(i + 1, i).real : 0;
  }
  MatrixView q;
  if (vectors) {
    q = work;
    form_shifted_q(q, tau);
  }
  for (ptrdiff_t last = n - 1; last > 0; --last) {
    for (int steps = 0; steps < kMostSteps; ++steps) {
      // Negated, so that NaN counts as negligible and ends the iteration.
      const ptrdiff_t first = block_begin(e, last, [&](ptrdiff_t i) {
        return !(std::fabs(e[i]) > DBL_EPSILON * (std::fabs(d[i]) + std::fabs(d[i + 1])));
      });
      if (first == last) break;
      step_tridiagonal(d, e, first, last, q);
    }
  }
  sort(d, n, false, q, MatrixView());
}

// A matrix that is much longer than wide is first factored, A = Q R, and R decomposed: its reflections of
// rows and its rotations are of R's size. In builds for speed.
static bool is_lengthy(const MatrixView& a) {
#ifdef __OPTIMIZE_SIZE__
  static_cast<void>(a);
  return false;
#else
  return 2 * a.rows > 3 * a.columns;
#endif
}

Error Singular::reserve(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                        bool vectors) {
  const ScalarType exact = exact_type(type);
  const ptrdiff_t count = std::min(rows, columns);
  RL_TRY(allocate_columns(context, exact, std::max(rows, columns), count, &work));
  RL_TRY(allocate_columns(context, exact, count, 3, &tau));
  if (is_lengthy(work)) RL_TRY(allocate_columns(context, exact, count, count, &core));
  RL_TRY(allocate_doubles(context, 2 * count, &diagonal));
  if (!vectors) return Error::Ok;
  RL_TRY(allocate_columns(context, exact, work.rows, 1, &column));
  return allocate_columns(context, exact, count, count, &right);
}

void Singular::decompose(const MatrixView& a) const {
  const bool wide = a.rows < a.columns;
  const ptrdiff_t n = work.columns;
  // A wide matrix is decomposed through its adjoint: (U S V^H)^H = V S U^H.
  const MatrixView lengthy = wide ? vh.adjoint() : u;
  const MatrixView other = wide ? u : vh.adjoint();
  work.copy(wide ? a.adjoint() : a);
  MatrixView tau_rows = tau;
  tau_rows.data += tau.column_step;
  MatrixView tau_first = tau;
  MatrixView left = work;
  const bool lengthy_work = is_lengthy(work);
  if (lengthy_work) {
    tau_first.data += 2 * tau.column_step;
    factor_qr(work, tau_first);
    left = core;
    left.copy_band(work.leading(n, n), 0, n);
  }
  double* d = diagonal;
  double* e = diagonal + n;
  const MatrixView across = below_first(left.adjoint());
  for (ptrdiff_t j = 0; j < n; ++j) {
    const Number factor = make_reflection(left, j);
    tau.set(j, 0, factor);
    reflect(left, j, conjugate(factor), left, j + 1);
    d[j] = left.get(j, j).real;
    e[j] = 0;
    if (j + 1 == n) break;
    const Number factor_of_row = make_reflection(across, j);
    tau_rows.set(j, 0, factor_of_row);
    reflect(across, j, conjugate(factor_of_row), across, j + 1);
    e[j] = left.get(j, j + 1).real;
  }
  if (right.data != nullptr) {
    for (ptrdiff_t j = n; j < lengthy.columns; ++j) {
      for (ptrdiff_t i = 0; i < column.rows; ++i) column.set(i, 0, i == j ? 1 : 0);
      multiply_q(work, tau_first.leading(n, 1), false, column);
      for (ptrdiff_t i = 0; i < column.rows; ++i) lengthy.set(i, j, column.get(i, 0));
    }
    right.copy(left.adjoint().leading(n, n));
    form_shifted_q(right, tau_rows);
    form_q(left, tau.leading(n, 1));
  } else {
    left = MatrixView();
  }
  double scale = 0;
  double check = 0;
  for (ptrdiff_t i = 0; i < 2 * n; ++i) {
    scale = std::max(scale, std::fabs(d[i]));
    // 0 times infinity or NaN is NaN.
    check += d[i] * 0;
  }
  if (check != 0) scale = check;  // NaN, which all values become
  // Scales the elements to at most 1, so that squares do not overflow or vanish.
  for (ptrdiff_t i = 0; scale > 0 && i < 2 * n; ++i) d[i] /= scale;
  const auto is_zero = [](double x) { return !(std::fabs(x) > DBL_EPSILON); };
  for (ptrdiff_t last = n - 1; last > 0; --last) {
    for (int steps = 0; steps < kMostSteps; ++steps) {
      ptrdiff_t first = block_begin(e, last, [&](ptrdiff_t i) { return is_zero(e[i]); });
      for (ptrdiff_t i = last; i-- > first;) {
        if (!is_zero(d[i])) continue;
        d[i] = 0;
        clear_row(d, e, i, last, left);
        first = i + 1;
        break;
      }
      if (first == last) break;
      step_bidiagonal(d, e, first, last, left, right);
    }
  }
  for (ptrdiff_t j = 0; j < n; ++j) {
    if (std::signbit(d[j]) && right.data != nullptr) {
      for (ptrdiff_t i = 0; i < n; ++i) right.set(i, j, -right.get(i, j));
    }
    d[j] = std::fabs(d[j]) * scale;
  }
  sort(d, n, true, left, right);
  for (ptrdiff_t i = 0; i < n; ++i) values.set(i, 0, d[i]);
  if (right.data == nullptr) return;
  other.copy(right);
  if (!lengthy_work) return lengthy.leading(lengthy.rows, n).copy(left);
  form_q(work, tau_first.leading(n, 1));
  // Q times the vectors of R, as its transpose: rows of that are contiguous.
  multiply(lengthy.leading(lengthy.rows, n).transposed(), left.transposed(), work.transposed());
}

}  // namespace rushlight::kernels
