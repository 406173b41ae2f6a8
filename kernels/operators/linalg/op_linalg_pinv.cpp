// SPDX-License-Identifier: BSD-3-Clause
// Pseudo-inverses and least squares by the singular value decomposition: A^+ = V S^+ U^H, where small
// singular values count as zero. Costs more than QR, but handles every rank with one algorithm, and gives the
// solution of minimal norm.
#include <algorithm>
#include <cfloat>
#include <optional>
#include <string_view>

#include "kernels/checks/selection.h"
#include "kernels/linalg/eigen.h"
#include "kernels/linalg/products.h"

namespace rushlight::kernels {

namespace {

// Copies column j of a matrix to the beginning of a contiguous one, in double: faster to compute with.
void copy_column(const MatrixView& from, ptrdiff_t j, const MatrixView& to) {
  MatrixView column = from.leading(from.rows, 1);
  column.data = from.at(0, j);
  to.leading(from.rows, 1).copy(column);
}

// The decomposition and its scratch, reserved once for all matrices of a batch.
struct PseudoInverse {
  Singular singular;
  MatrixView products;  // scratch: a row for each singular value, a column for each right-hand side

  Error reserve(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t sides) {
    const ScalarType exact = exact_type(type);
    const ptrdiff_t count = std::min(rows, columns);
    RL_TRY(singular.reserve(context, type, rows, columns, true));
    RL_TRY(allocate_columns(context, exact, rows, count, &singular.u));
    RL_TRY(allocate_matrix(context, exact, count, columns, &singular.vh));
    RL_TRY(allocate_matrix(context, exact, count, sides, &products));
    return allocate_matrix(context, ScalarType::Double, count, 1, &singular.values);
  }

  [[nodiscard]] double largest() const {
    return singular.values.rows == 0 ? 0 : singular.values.get(0, 0).real;
  }

  // The number of singular values above `least`; they are in descending order. NaN counts as above.
  [[nodiscard]] ptrdiff_t rank(double least) const {
    ptrdiff_t rank = 0;
    while (rank < singular.values.rows && !(singular.values.get(rank, 0).real <= least)) ++rank;
    return rank;
  }

  // x = A^+ b with the pseudo-inverse of the given rank; without b, x = A^+. Each column takes rank * (rows +
  // columns) multiplications. Only the first `rank` singular values divide. Changes the vectors.
  void apply(ptrdiff_t rank, const MatrixView* b, const MatrixView& x) const {
    MatrixView parts = singular.u.adjoint().leading(rank, singular.u.rows);
    if (b != nullptr) {
      const MatrixView& column = singular.column;
      for (ptrdiff_t j = 0; j < b->columns; ++j) {
        copy_column(*b, j, column);
        for (ptrdiff_t k = 0; k < rank; ++k) products.set(k, j, parts.dot(k, column, 0, 0, b->rows));
      }
      parts = products.leading(rank, b->columns);
    }
    for (ptrdiff_t k = 0; k < rank; ++k) {
      parts.transposed().divide_column(k, singular.values.get(k, 0), 0, parts.columns);
    }
    multiply(x, singular.vh.adjoint().leading(x.rows, rank), parts);
  }
};

// The Hermitian matrix with the lower triangle of `source`; the upper triangle is not read.
void mirror(const MatrixView& source, const MatrixView& target) {
  for (ptrdiff_t i = 0; i < source.rows; ++i) {
    for (ptrdiff_t j = 0; j <= i; ++j) {
      Number value = source.get(i, j);
      if (i == j) value = value.real;
      target.set(i, j, value);
      target.set(j, i, conjugate(value));
    }
  }
}

// PyTorch's default: epsilon times the larger size, relative to the largest singular value.
double default_tolerance(ScalarType type, ptrdiff_t rows, ptrdiff_t columns) {
  const double eps = component_type(type) == ScalarType::Float ? FLT_EPSILON : DBL_EPSILON;
  return eps * static_cast<double>(std::max(rows, columns));
}

Error check_tolerance(const std::optional<Tensor>& tolerance, const Shape& batch, const char* name) {
  if (!tolerance) return Error::Ok;
  const ScalarType type = tolerance->scalar_type();
  RL_CHECK(type == ScalarType::Float || type == ScalarType::Double, Error::InvalidType,
           "%s: expected dtype float32 or float64, got %s", name, to_string(type));
  Shape shape;
  RL_TRY(broadcast_shape(tolerance->sizes(), batch.span(), &shape));
  RL_CHECK(shape.dim == batch.dim && batch_size(shape) == batch_size(batch), Error::InvalidArgument,
           "%s: expected a number, or one for each matrix", name);
  return Error::Ok;
}

}  // namespace

// Scratch, in double precision: two matrices of the size of `self`, two or three of min(rows, columns)
// squared, and some columns.
Error linalg_pinv_atol_rtol_tensor_out(KernelContext& context, const Tensor& self,
                                       const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                                       bool hermitian, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_pinv.atol_rtol_tensor_out");
  RL_TRY(check_matrices(self, kTypes, "self"));
  if (hermitian) RL_TRY(check_square(self, kTypes, "self"));
  RL_TRY(check_dtype(out, self.scalar_type(), "out"));
  const Shape batch = Shape::of(self, 2);
  RL_TRY(check_tolerance(atol, batch, "atol"));
  RL_TRY(check_tolerance(rtol, batch, "rtol"));
  const ptrdiff_t rows = self.size(self.dim() - 2);
  const ptrdiff_t columns = self.size(self.dim() - 1);
  RL_TRY(resize_batched(out, batch, {columns, rows}));
  if (out.numel() == 0) return Error::Ok;
  PseudoInverse inverse;
  RL_TRY(inverse.reserve(context, self.scalar_type(), rows, columns, 0));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    // PyTorch's rule: without rtol, the default applies only if atol is absent or 0.
    const double absolute_part = atol ? number_of(*atol, batch, n).get(0, 0).real : 0;
    double relative = absolute_part > 0 ? 0 : default_tolerance(self.scalar_type(), rows, columns);
    if (rtol) relative = number_of(*rtol, batch, n).get(0, 0).real;
    const MatrixView target = matrix_of(out, batch, n);
    // decompose() copies its argument before it computes, so the target may hold it.
    if (hermitian) mirror(matrix_of(self, batch, n), target);
    inverse.singular.decompose(hermitian ? target : matrix_of(self, batch, n));
    const double least = std::max(absolute_part, relative * inverse.largest());
    inverse.apply(inverse.rank(least), nullptr, target);
  }
  return Error::Ok;
}

// Every driver computes the least-squares solution of minimal norm by singular values. Scratch as for
// linalg_pinv, and the products of U and `b`. The driver decides which results exist: `rank` for all but
// gels, `singular_values` for gelsd and gelss. gels assumes full rank, so only singular values of exactly 0
// are dropped.
Error linalg_lstsq_out(KernelContext& context, const Tensor& self, const Tensor& b,
                       std::optional<double> rcond, std::optional<std::string_view> driver, Tensor& solution,
                       Tensor& residuals, Tensor& rank, Tensor& singular_values) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_lstsq.out");
  RL_TRY(check_matrices(self, kTypes, "self"));
  RL_TRY(check_dtype(b, self.scalar_type(), "b"));
  RL_TRY(check_dtype(solution, self.scalar_type(), "solution"));
  const ScalarType real = component_type(self.scalar_type());
  RL_TRY(check_dtype(residuals, real, "residuals"));
  RL_TRY(check_dtype(rank, ScalarType::Long, "rank"));
  RL_TRY(check_dtype(singular_values, real, "singular_values"));
  const std::string_view name = driver.value_or("gelsy");
  const bool plain = name == "gels";
  const bool singular = name == "gelsd" || name == "gelss";
  RL_CHECK(plain || singular || name == "gelsy", Error::InvalidArgument,
           "driver: expected gels, gelsy, gelsd or gelss, got %.*s", static_cast<int>(name.size()),
           name.data());
  const bool vectors = b.dim() + 1 == self.dim();
  bool fits = vectors || b.dim() == self.dim();
  for (ptrdiff_t d = 0; fits && d + 1 < self.dim(); ++d) fits = b.size(d) == self.size(d);
  RL_CHECK(fits, Error::InvalidArgument,
           "b: expected a matrix, or a vector, of as many rows for each of self");

  const Shape batch = Shape::of(self, 2);
  const ptrdiff_t rows = self.size(self.dim() - 2);
  const ptrdiff_t columns = self.size(self.dim() - 1);
  const ptrdiff_t sides = vectors ? 1 : b.size(b.dim() - 1);
  if (vectors) {
    RL_TRY(resize_batched(solution, batch, {columns}));
  } else {
    RL_TRY(resize_batched(solution, batch, {columns, sides}));
  }
  if (plain) {
    RL_TRY(resize_batched(rank, Shape(), {0}));
  } else {
    RL_TRY(resize_out(rank, batch.span()));
  }
  if (singular) {
    RL_TRY(resize_batched(singular_values, batch, {std::min(rows, columns)}));
  } else {
    RL_TRY(resize_batched(singular_values, Shape(), {0}));
  }
  PseudoInverse inverse;
  RL_TRY(inverse.reserve(context, self.scalar_type(), rows, columns, sides));
  const double relative = rcond.value_or(default_tolerance(self.scalar_type(), rows, columns));
  bool full = true;
  for (size_t n = 0; n < batch_size(batch); ++n) {
    inverse.singular.decompose(matrix_of(self, batch, n));
    const ptrdiff_t found = inverse.rank(plain ? 0 : relative * inverse.largest());
    full = full && found == columns;
    const MatrixView side = vectors ? vector_of(b, batch, n) : matrix_of(b, batch, n);
    inverse.apply(found, &side, vectors ? vector_of(solution, batch, n) : matrix_of(solution, batch, n));
    if (!plain) *reinterpret_cast<int64_t*>(element_of(rank, 0, batch, n)) = found;
    if (singular) vector_of(singular_values, batch, n).copy(inverse.singular.values);
  }
  // Residuals exist only for overdetermined systems of full rank, and not with gelsy, as in PyTorch.
  if (rows <= columns || !(plain || (singular && full))) return resize_batched(residuals, Shape(), {0});
  RL_TRY(resize_batched(residuals, batch, {sides}));
  const MatrixView& a = inverse.singular.work;  // rows > columns: it has the size of self
  const MatrixView& rest = inverse.singular.column;
  for (size_t n = 0; n < batch_size(batch); ++n) {
    a.copy(matrix_of(self, batch, n));
    const MatrixView x = vectors ? vector_of(solution, batch, n) : matrix_of(solution, batch, n);
    const MatrixView side = vectors ? vector_of(b, batch, n) : matrix_of(b, batch, n);
    // Squared length of b - A x. As it is computed from the stored, rounded x, it may exceed the true minimum
    // slightly.
    for (ptrdiff_t j = 0; j < sides; ++j) {
      copy_column(side, j, rest);
      for (ptrdiff_t k = 0; k < columns; ++k) {
        const Number factor = x.get(k, j);
        rest.subtract(0, 1, a, k, &factor, 0, rows);
      }
      vector_of(residuals, batch, n).set(j, 0, rest.adjoint().dot(0, rest, 0, 0, rows).real);
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
