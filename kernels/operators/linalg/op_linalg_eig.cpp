// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues and eigenvectors of a general matrix, by the shifted QR algorithm in complex arithmetic (Golub
// and Van Loan, Matrix Computations): reduction to Hessenberg form, QR steps with Wilkinson's shift until the
// matrix is triangular, then back substitution for the vectors. O(n^3). Complex arithmetic throughout avoids
// the double shifts of the real algorithm, at more multiplications for real input.
#include <cfloat>

#include "kernels/checks/selection.h"
#include "kernels/linalg/matrix.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Limit of QR steps for one eigenvalue; usually 2 or 3 suffice.
constexpr int kMostSteps = 60;

// The Givens rotation that maps (x, y) in rows p and q to (x / |x| * hypot(x, y), 0). Its cosine is real, so
// that it keeps the phase of x. Applied to the adjoint it rotates columns instead.
struct Rotation {
  double cosine = 1;
  Number sine;

  Rotation(Number x, Number y) {
    const double length = std::hypot(absolute(x), absolute(y));
    const double size = absolute(x);
    if (length == 0) return;
    if (size == 0) {
      cosine = 0;
      sine = conjugate(y) * (1 / absolute(y));
      return;
    }
    cosine = size / length;
    sine = x * conjugate(y) * (1 / (size * length));
  }

  // Rotates rows p and q, from column `begin` on.
  void apply(const MatrixView& a, ptrdiff_t p, ptrdiff_t q, ptrdiff_t begin) const {
    for (ptrdiff_t j = begin; j < a.columns; ++j) {
      const Number x = a.get(p, j);
      const Number y = a.get(q, j);
      a.set(p, j, x * cosine + y * sine);
      a.set(q, j, y * cosine - x * conjugate(sine));
    }
  }
};

// Reduces h to Hessenberg form, with zeros below the first subdiagonal, and accumulates the rotations in z.
// Rotations take more multiplications than Householder reflections, but the QR steps need the same ones.
void make_hessenberg(const MatrixView& h, const MatrixView& z) {
  for (ptrdiff_t k = 0; k + 2 < h.rows; ++k) {
    for (ptrdiff_t i = k + 2; i < h.rows; ++i) {
      if (h.get(i, k) == Number()) continue;
      const Rotation rotation(h.get(k + 1, k), h.get(i, k));
      rotation.apply(h, k + 1, i, 0);
      rotation.apply(h.adjoint(), k + 1, i, 0);
      rotation.apply(z.adjoint(), k + 1, i, 0);
    }
  }
}

// The principal square root. The part that a sum gives comes first, and the other by division: the difference
// under the root would cancel.
Number square_root(Number z) {
  const double size = absolute(z);
  if (size == 0) return 0;
  const double real = std::sqrt((size + std::fabs(z.real)) / 2);
  const double imag = std::fabs(z.imag) / (2 * real);
  if (z.real >= 0) return {real, std::copysign(imag, z.imag)};
  return {imag, std::copysign(real, z.imag)};
}

// Wilkinson's shift: the eigenvalue of the trailing 2 x 2 block that is nearest to its last element. It is
// computed as d - product / larger, where nothing cancels.
Number shift_of(const MatrixView& h, ptrdiff_t last) {
  const Number d = h.get(last, last);
  const Number half = (h.get(last - 1, last - 1) - d) * 0.5;
  const Number product = h.get(last - 1, last) * h.get(last, last - 1);
  const Number root = square_root(half * half + product);
  const Number plus = half + root;
  const Number minus = half - root;
  const Number larger = squared(plus) > squared(minus) ? plus : minus;
  return larger == Number() ? d : d - product / larger;
}

// Schur form: makes h upper triangular, with the eigenvalues on its diagonal, and accumulates the unitary
// factor in z. False if it does not converge. Each eigenvalue is deflated at the end of the active block
// [first, last].
bool make_triangular(const MatrixView& h, const MatrixView& z) {
  make_hessenberg(h, z);
  int steps = 0;
  for (ptrdiff_t last = h.rows - 1; last > 0;) {
    ptrdiff_t first = last;
    for (; first > 0; --first) {
      const double beside = absolute(h.get(first, first)) + absolute(h.get(first - 1, first - 1));
      // Negligible beside its neighbors; so is NaN, so that the search ends.
      if (!(absolute(h.get(first, first - 1)) > DBL_EPSILON * beside)) break;
    }
    if (first > 0) h.set(first, first - 1, 0);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kMostSteps) return false;
    // An exceptional shift in every tenth step breaks cycles.
    const Number shift =
        steps % 10 == 0 ? h.get(last, last) + Number(absolute(h.get(last, last - 1))) : shift_of(h, last);
    for (ptrdiff_t i = first; i <= last; ++i) h.set(i, i, h.get(i, i) - shift);
    // Rotates the rows of step k before the columns of step k - 1, which do not overlap any more: one pass
    // over h.
    Rotation before(0, 0);
    for (ptrdiff_t k = first; k < last; ++k) {
      const Rotation rotation(h.get(k, k), h.get(k + 1, k));
      rotation.apply(h, k, k + 1, k);
      if (k > first) before.apply(h.adjoint().leading(h.rows, k + 1), k - 1, k, 0);
      rotation.apply(z.adjoint(), k, k + 1, 0);
      before = rotation;
    }
    before.apply(h.adjoint().leading(h.rows, last + 1), last - 1, last, 0);
    for (ptrdiff_t i = first; i <= last; ++i) h.set(i, i, h.get(i, i) + shift);
  }
  return true;
}

// Computes column `at` of `vectors`, the eigenvector of z t z^H for the eigenvalue t[at, at]. Its length is 1
// and its largest element real, as in LAPACK. `x` is a column of scratch. The triangular system is solved
// upwards; a zero divisor, from a repeated eigenvalue, is replaced by `negligible`, so that a defective
// matrix gives parallel vectors and not infinities.
void find_vector(const MatrixView& t, const MatrixView& z, ptrdiff_t at, double negligible,
                 const MatrixView& x, const MatrixView& vectors) {
  const Number value = t.get(at, at);
  x.set(at, 0, 1);
  for (ptrdiff_t i = at; i-- > 0;) {
    Number divisor = value - t.get(i, i);
    if (!(absolute(divisor) > negligible)) divisor = negligible;
    x.set(i, 0, t.dot(i, x, 0, i + 1, at + 1) / divisor);
  }
  double length = 0;
  Number largest = 1;
  double size = 0;
  for (ptrdiff_t i = 0; i < z.rows; ++i) {
    // z x is computed twice, for its length and for the result: a second column of scratch would avoid that.
    const Number element = z.dot(i, x, 0, 0, at + 1);
    length = std::hypot(length, absolute(element));
    if (absolute(element) > size) {
      size = absolute(element);
      largest = element;
    }
  }
  const Number factor = conjugate(largest) * (1 / (size * length));
  for (ptrdiff_t i = 0; i < z.rows; ++i) vectors.set(i, at, z.dot(i, x, 0, 0, at + 1) * factor);
}

}  // namespace

// Scratch, in complex128: two matrices of the size of `self` and a column.
Error linalg_eig_out(KernelContext& context, const Tensor& self, Tensor& eigenvalues, Tensor& eigenvectors) {
  // The output is complex also for real input, so a build without complex dtypes does not support this
  // operator.
  if constexpr (!kSelectsComplex) return unsupported_type(complex_type(self.scalar_type()));
  constexpr TypeSet kTypes = selected_types("aten::linalg_eig.out");
  RL_TRY(check_square(self, kTypes, "self"));
  RL_TRY(check_dtype(eigenvalues, complex_type(self.scalar_type()), "eigenvalues"));
  RL_TRY(check_dtype(eigenvectors, complex_type(self.scalar_type()), "eigenvectors"));
  const Shape batch = Shape::of(self, 2);
  const ptrdiff_t rows = self.size(self.dim() - 1);
  RL_TRY(resize_batched(eigenvalues, batch, {rows}));
  RL_TRY(resize_out(eigenvectors, self.sizes()));
  MatrixView t;
  MatrixView z;
  MatrixView column;
  RL_TRY(allocate_matrix(context, ScalarType::ComplexDouble, rows, rows, &t));
  RL_TRY(allocate_matrix(context, ScalarType::ComplexDouble, rows, rows, &z));
  RL_TRY(allocate_matrix(context, ScalarType::ComplexDouble, rows, 1, &column));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    t.copy(matrix_of(self, batch, n));
    z.set_identity();
    double norm = 0;
    // The Frobenius norm; hypot() keeps squares from overflowing. A matrix with NaN or infinity is refused.
    for (ptrdiff_t i = 0; i < rows; ++i) {
      for (ptrdiff_t j = 0; j < rows; ++j) norm = std::hypot(norm, absolute(t.get(i, j)));
    }
    RL_CHECK(std::isfinite(norm) && make_triangular(t, z), Error::InvalidArgument,
             "self: eigenvalues of matrix %lu of the batch do not converge", static_cast<unsigned long>(n));
    const double negligible = norm > 0 ? DBL_EPSILON * norm : 1;
    for (ptrdiff_t i = 0; i < rows; ++i) {
      vector_of(eigenvalues, batch, n).set(i, 0, t.get(i, i));
      find_vector(t, z, i, negligible, column, matrix_of(eigenvectors, batch, n));
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
