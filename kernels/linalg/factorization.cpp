// SPDX-License-Identifier: BSD-3-Clause
// LU by Crout's method: each element takes one sum of products, in double, so long sums are rounded once. In
// builds for speed small matrices are copied (small_matrix.h).
#include "kernels/linalg/factorization.h"

#include <algorithm>

#ifndef __OPTIMIZE_SIZE__
#include "kernels/linalg/products.h"
#include "kernels/linalg/small_matrix.h"
#endif
#include "kernels/walk/paired_axes.h"

namespace rushlight::kernels {

Pivots pivots_of(const Tensor& tensor, const Shape& batch, size_t n) {
  return {element_of(tensor, 1, batch, n), byte_stride(tensor, tensor.sizes().size() - 1)};
}

// Pivots of a program are data: an invalid one would address rows outside of the matrix.
Error check_pivots(const Tensor& pivots, ptrdiff_t rows) {
  RL_TRY(check_dtype(pivots, ScalarType::Int, "pivots"));
  for (size_t i = 0; i < pivots.numel(); ++i) {
    const int32_t pivot = pivots.const_data_ptr<int32_t>()[i];
    RL_CHECK(pivot >= 1 && pivot <= rows, Error::InvalidArgument, "pivots: expected 1 to %ld, got %ld",
             static_cast<long>(rows), static_cast<long>(pivot));
  }
  return Error::Ok;
}

namespace {

#ifndef __OPTIMIZE_SIZE__
// Right-hand sides up to which copies of small matrices are faster than vectors.
constexpr ptrdiff_t kManyColumns = 8;
#endif

// Column j from row j on, less the products of finished columns (a dot product of j elements for each row).
// Returns the row of the largest magnitude, in LAPACK's measure |re| + |im|, which needs no square root.
ptrdiff_t finish_column(const MatrixView& a, ptrdiff_t j) {
  const MatrixView* column = &a;
  ptrdiff_t at = j;
#ifndef __OPTIMIZE_SIZE__
  // A contiguous copy of the finished part, which all rows below are multiplied by.
  constexpr ptrdiff_t kCopied = 128;
  alignas(double) char memory[kCopied * 2 * sizeof(double)];
  const MatrixView copied = MatrixView::dense(memory, exact_type(a.type), kCopied, 1);
  if (j <= kCopied) {
    for (ptrdiff_t k = 0; k < j; ++k) copied.set(k, 0, a.get(k, j));
    column = &copied;
    at = 0;
  }
#endif
  ptrdiff_t best = j;
  double largest = -1;
  for (ptrdiff_t i = j; i < a.rows; ++i) {
    Number value = a.get(i, j);
    if (j > 0) {
      value = value - a.dot(i, *column, at, 0, j);
      a.set(i, j, value);
    }
    const double size = std::fabs(value.real) + std::fabs(value.imag);
    if (size > largest) {
      largest = size;
      best = i;
    }
  }
  return best;
}

// Row j behind the diagonal, less the products of finished rows.
void finish_row(const MatrixView& a, ptrdiff_t j) {
  Number sums[MatrixView::kSums];
  for (ptrdiff_t column = j + 1; j > 0 && column < a.columns; column += MatrixView::kSums) {
    const ptrdiff_t count = std::min(a.columns - column, MatrixView::kSums);
    a.dots(j, a, column, count, 0, j, sums);
    for (ptrdiff_t c = 0; c < count; ++c) a.set(j, column + c, a.get(j, column + c) - sums[c]);
  }
}

}  // namespace

#ifndef __OPTIMIZE_SIZE__
namespace {

bool is_small(const MatrixView& a) { return a.rows <= kSmallMatrix && a.columns <= kSmallMatrix; }

int32_t factor_small(const MatrixView& source, const MatrixView& lu, Pivots pivots) {
  return with_number(source, lu, [&](auto number) {
    SmallMatrix<decltype(number)> copy;
    copy.load(source);
    const int32_t stopped = small_lu(copy, source.rows, source.columns, pivots);
    copy.store(lu);
    return stopped;
  });
}

MatrixView part_of(const MatrixView& a, ptrdiff_t i, ptrdiff_t j, ptrdiff_t rows, ptrdiff_t columns) {
  MatrixView part = a.leading(rows, columns);
  part.data = a.at(i, j);
  return part;
}

// In double precision with contiguous columns, where sums may be rounded often: factors a panel of columns by
// elimination, and subtracts the product of its rows and columns from the rest, which is most of the work.
int32_t factor_panels(const MatrixView& a, Pivots pivots) {
  constexpr ptrdiff_t kPanel = 8;
  const ptrdiff_t count = std::min(a.rows, a.columns);
  int32_t info = 0;
  for (ptrdiff_t begin = 0; begin < count; begin += kPanel) {
    const ptrdiff_t end = std::min(begin + kPanel, count);
    for (ptrdiff_t j = begin; j < end; ++j) {
      ptrdiff_t best = j;
      double largest = -1;
      for (ptrdiff_t i = j; i < a.rows; ++i) {
        const Number value = a.get(i, j);
        const double size = std::fabs(value.real) + std::fabs(value.imag);
        if (size > largest) {
          largest = size;
          best = i;
        }
      }
      pivots[j] = static_cast<int32_t>(best + 1);
      a.swap_rows(j, best);
      const Number pivot = a.get(j, j);
      if (pivot == Number()) {
        if (info == 0) info = static_cast<int32_t>(j + 1);
      } else {
        a.divide_column(j, pivot, j + 1, a.rows);
      }
      Number row[kPanel];
      for (ptrdiff_t k = j + 1; k < end; ++k) row[k - j - 1] = a.get(j, k);
      a.subtract(j + 1, end - j - 1, a, j, row, j + 1, a.rows);
    }
    const ptrdiff_t columns = a.columns - end;
    const ptrdiff_t rows = a.rows - end;
    if (columns == 0) continue;
    const MatrixView beside = part_of(a, begin, end, end - begin, columns);
    solve_triangular(part_of(a, begin, begin, end - begin, end - begin), false, true, beside);
    if (rows == 0) continue;
    // As transposes, whose rows are contiguous.
    const MatrixView rest = part_of(a, end, end, rows, columns);
    const MatrixView below = part_of(a, end, begin, rows, end - begin);
    if (subtract_product(rest.transposed(), beside.transposed(), below.transposed())) continue;
    for (ptrdiff_t k = begin; k < end; ++k) {
      for (ptrdiff_t j = end; j < a.columns; ++j) {
        const Number factor = a.get(k, j);
        a.subtract(j, 1, a, k, &factor, end, a.rows);
      }
    }
  }
  return info;
}

}  // namespace
#endif

// Step j finishes column j, exchanges whole rows, finishes row j, and divides the column by the pivot.
int32_t factor_lu(const MatrixView& a, Pivots pivots) {
#ifndef __OPTIMIZE_SIZE__
  if (is_small(a)) return factor_small(a, a, pivots);
  if (a.type == exact_type(a.type) && a.has_columns()) {
    return factor_panels(a, pivots);
  }
#endif
  int32_t info = 0;
  for (ptrdiff_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    const ptrdiff_t best = finish_column(a, j);
    pivots[j] = static_cast<int32_t>(best + 1);
    a.swap_rows(j, best);
    finish_row(a, j);
    const Number pivot = a.get(j, j);
    // Goes on after a zero pivot, so that the factors are complete for a singular matrix.
    if (pivot == Number()) {
      if (info == 0) info = static_cast<int32_t>(j + 1);
    } else {
      a.divide_column(j, pivot, j + 1, a.rows);
    }
  }
  return info;
}

Error allocate_copy(KernelContext& context, const Tensor& a, MatrixView* copy) {
#ifndef __OPTIMIZE_SIZE__
  const ptrdiff_t rows = a.size(a.dim() - 2);
  const ptrdiff_t columns = a.size(a.dim() - 1);
  if (std::max(rows, columns) <= kSmallMatrix || a.numel() == 0) return Error::Ok;
  return allocate_columns(context, exact_type(a.scalar_type()), rows, columns, copy);
#else
  static_cast<void>(context);
  static_cast<void>(a);
  static_cast<void>(copy);
  return Error::Ok;
#endif
}

int32_t factor_into(const MatrixView& source, const MatrixView& copy, const MatrixView& lu, Pivots pivots) {
#ifndef __OPTIMIZE_SIZE__
  if (copy.data != nullptr) {
    copy.copy(source);
    const int32_t stopped = factor_lu(copy, pivots);
    lu.copy(copy);
    return stopped;
  }
  if (is_small(lu)) return factor_small(source, lu, pivots);
#else
  static_cast<void>(copy);
#endif
  lu.copy(source);
  return factor_lu(lu, pivots);
}

Error factor_all(KernelContext& context, const Tensor& a, bool transposed, const Tensor& lu,
                 const Tensor& pivots, const Tensor* info, bool check_errors) {
  RL_TRY(check_dtype(lu, a.scalar_type(), "LU"));
  RL_TRY(check_dtype(pivots, ScalarType::Int, "pivots"));
  if (info != nullptr) RL_TRY(check_dtype(*info, ScalarType::Int, "info"));
  const Shape batch = Shape::of(a, 2);
  const ptrdiff_t count = std::min(a.size(a.dim() - 2), a.size(a.dim() - 1));
  RL_TRY(resize_out(lu, a.sizes()));
  RL_TRY(resize_batched(pivots, batch, {count}));
  if (info != nullptr) RL_TRY(resize_out(*info, batch.span()));
  for (const Tensor* written : {&lu, info}) {
    if (written != nullptr) RL_TRY(check_no_overlap(pivots, *written, "pivots"));
  }
  // Square matrices, if they are transposed.
  MatrixView copy;
  RL_TRY(allocate_copy(context, a, &copy));
#ifndef __OPTIMIZE_SIZE__
  // Matrices without elements are regular.
  if (a.numel() == 0) {
    if (info != nullptr) std::fill_n(info->mutable_data_ptr<int32_t>(), info->numel(), 0);
    return Error::Ok;
  }
#endif
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView matrix = matrix_of(lu, batch, n);
    const MatrixView source = matrix_of(a, batch, n);
    const int32_t stopped =
        factor_into(transposed ? source.transposed() : source, copy, matrix, pivots_of(pivots, batch, n));
    if (info != nullptr) int32_of(*info, batch, n) = stopped;
    RL_CHECK(!check_errors || stopped == 0, Error::InvalidArgument,
             "A: matrix %lu of the batch is singular, pivot %ld is zero", static_cast<unsigned long>(n),
             static_cast<long>(stopped));
  }
  return Error::Ok;
}

void solve_lu(const MatrixView& lu, Pivots pivots, bool transposed, const MatrixView& b) {
#ifndef __OPTIMIZE_SIZE__
  if (b.rows <= kSmallMatrix && b.columns <= kManyColumns) {
    return with_number(lu, b, [&](auto number) {
      const ptrdiff_t n = b.rows;
      SmallMatrix<decltype(number)> factors;
      SmallMatrix<decltype(number)> x;
      factors.load(transposed ? lu.transposed() : lu);
      x.load(b);
      for (ptrdiff_t i = 0; !transposed && i < n; ++i) x.swap_rows(i, pivots[i] - 1, b.columns);
      small_solve(factors, n, false, !transposed, x, b.columns);
      small_solve(factors, n, true, transposed, x, b.columns);
      for (ptrdiff_t i = n; transposed && i-- > 0;) x.swap_rows(i, pivots[i] - 1, b.columns);
      x.store(b);
    });
  }
#endif
  // A = P L U: L and U are solved in order. A^T = U^T L^T P^T: the factors and the exchanges are reversed.
  if (!transposed) {
    for (ptrdiff_t i = 0; i < b.rows; ++i) b.swap_rows(i, pivots[i] - 1);
    solve_triangular(lu, false, true, b);
    solve_triangular(lu, true, false, b);
    return;
  }
  solve_triangular(lu.transposed(), false, false, b);
  solve_triangular(lu.transposed(), true, true, b);
  for (ptrdiff_t i = b.rows; i-- > 0;) b.swap_rows(i, pivots[i] - 1);
}

Error solve_all(const Tensor& lu, const Tensor& pivots, const Tensor& b, Systems systems, const Tensor& out) {
  RL_TRY(check_dtype(b, lu.scalar_type(), "B"));
  RL_TRY(check_dtype(out, lu.scalar_type(), "out"));
  RL_CHECK(b.dim() >= (systems.vectors ? 1 : 2), Error::InvalidArgument, "B: expected matrices, got %ld-dim",
           static_cast<long>(b.dim()));
  const ptrdiff_t unknowns = lu.size(lu.dim() - 1);
  const ptrdiff_t rows = b.size(b.dim() - (systems.vectors || !systems.left ? 1 : 2));
  RL_CHECK(rows == unknowns, Error::InvalidArgument, "B: expected %ld equations, got %ld",
           static_cast<long>(unknowns), static_cast<long>(rows));
  Shape batch;
  RL_TRY(broadcast_shape(Shape::of(lu, 2).span(), Shape::of(b, systems.vectors ? 1 : 2).span(), &batch));
  if (systems.vectors) {
    RL_TRY(resize_batched(out, batch, {unknowns}));
  } else {
    RL_TRY(resize_batched(out, batch, {b.size(b.dim() - 2), b.size(b.dim() - 1)}));
  }
  RL_TRY(check_no_overlap(pivots, out, "pivots"));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    MatrixView x = systems.vectors ? vector_of(out, batch, n) : matrix_of(out, batch, n);
    x.copy(systems.vectors ? vector_of(b, batch, n) : matrix_of(b, batch, n));
    MatrixView factors = matrix_of(lu, batch, n);
    factors.conjugated = systems.conjugated;
    // X A = B is solved as A^T X^T = B^T.
    if (!systems.left) x = x.transposed();
    solve_lu(factors, pivots_of(pivots, batch, n), systems.transposed == systems.left, x);
  }
  return Error::Ok;
}

// Applies the exchanges to the identity in reverse order: P is their inverse.
void set_permutation(const MatrixView& p, Pivots pivots, ptrdiff_t count) {
  p.set_identity();
  for (ptrdiff_t i = count; i-- > 0;) p.swap_rows(i, pivots[i] - 1);
}

// Forward or backward substitution, one right-hand side after the other in each row.
void solve_triangular(const MatrixView& triangle, bool upper, bool unit, const MatrixView& b) {
#ifndef __OPTIMIZE_SIZE__
  if (b.columns > kManyColumns && solve_rows(triangle, upper, unit, b)) return;
  if (b.rows <= kSmallMatrix) {
    return with_number(triangle, b, [&](auto number) {
      SmallMatrix<decltype(number)> factors;
      factors.load_triangle(triangle.leading(b.rows, b.rows), upper);
      for (ptrdiff_t j = 0; j < b.columns; j += kSmallMatrix) {
        MatrixView some = b.leading(b.rows, std::min(b.columns - j, kSmallMatrix));
        some.data = b.at(0, j);
        SmallMatrix<decltype(number)> copy;
        copy.load(some);
        small_solve(factors, b.rows, upper, unit, copy, some.columns);
        copy.store(some);
      }
    });
  }
#endif
  for (ptrdiff_t step = 0; step < b.rows; ++step) {
    const ptrdiff_t i = upper ? b.rows - 1 - step : step;
    const ptrdiff_t begin = upper ? i + 1 : 0;
    const ptrdiff_t end = upper ? b.rows : i;
    const Number divisor = unit ? Number(1) : triangle.get(i, i);
    Number sums[MatrixView::kSums];
    for (ptrdiff_t j = 0; j < b.columns; j += MatrixView::kSums) {
      const ptrdiff_t count = std::min(b.columns - j, MatrixView::kSums);
      triangle.dots(i, b, j, count, begin, end, sums);
      for (ptrdiff_t c = 0; c < count; ++c) {
        const Number rest = b.get(i, j + c) - sums[c];
        b.set(i, j + c, unit ? rest : rest / divisor);
      }
    }
  }
}

// Left-looking: column j is finished with dot products of finished columns.
//
//   l_jj = sqrt(a_jj - sum |l_jk|^2),   l_ij = (a_ij - sum l_ik conj(l_jk)) / l_jj,   k < j
int32_t factor_cholesky(const MatrixView& a) {
#ifndef __OPTIMIZE_SIZE__
  if (a.rows <= kSmallMatrix) {
    return with_number(a, a, [&](auto number) {
      SmallMatrix<decltype(number)> copy;
      copy.load_triangle(a, false);
      const int32_t stopped = small_cholesky(copy, a.rows);
      copy.store_lower(a);
      return stopped;
    });
  }
#endif
  const MatrixView adjoint = a.adjoint();
  for (ptrdiff_t j = 0; j < a.rows; ++j) {
    const double square = a.get(j, j).real - a.dot(j, adjoint, j, 0, j).real;
    // Negated, so that NaN is refused, too.
    if (!(square > 0)) return static_cast<int32_t>(j + 1);
    const double root = std::sqrt(square);
    a.set(j, j, root);
    if (j > 0) {
      for (ptrdiff_t i = j + 1; i < a.rows; ++i) a.set(i, j, a.get(i, j) - a.dot(i, adjoint, j, 0, j));
    }
    a.divide_column(j, root, j + 1, a.rows);
  }
  return 0;
}

int32_t invert(const MatrixView& a, Pivots pivots, const MatrixView& column) {
  const ptrdiff_t n = a.rows;
#ifndef __OPTIMIZE_SIZE__
  if (n <= kSmallMatrix) {
    return with_number(a, a, [&](auto number) {
      using N = decltype(number);
      SmallMatrix<N> factors;
      factors.load(a);
      const int32_t stopped = small_lu(factors, n, n, pivots);
      // Solves L U X = P^T.
      SmallMatrix<N> inverse;
      for (ptrdiff_t i = 0; i < n; ++i) {
        for (ptrdiff_t j = 0; j < n; ++j) inverse.set(i, j, i == j ? 1 : 0);
      }
      for (ptrdiff_t i = 0; i < n; ++i) inverse.swap_rows(i, pivots[i] - 1, n);
      small_solve(factors, n, false, true, inverse, n);
      small_solve(factors, n, true, false, inverse, n);
      inverse.store(a);
      return stopped;
    });
  }
#endif
  const int32_t info = factor_lu(a, pivots);
  // Replaces U by its inverse, column by column.
  for (ptrdiff_t j = 0; j < n; ++j) {
    // Rows above hold the inverse up to column j - 1, and column j still holds U.
    const Number last = 1 / a.get(j, j);
    for (ptrdiff_t i = 0; i < j; ++i) a.set(i, j, -(a.dot(i, a, j, i, j) * last));
    a.set(j, j, last);
  }
  // Solves X L = U^-1 for X = A^-1 P; columns of L are overwritten from the right.
  for (ptrdiff_t j = n; j-- > 0;) {
    for (ptrdiff_t i = j + 1; i < n; ++i) {
      column.set(i, 0, a.get(i, j));
      a.set(i, j, 0);
    }
    for (ptrdiff_t i = 0; i < n; ++i) a.set(i, j, a.get(i, j) - a.dot(i, column, 0, j + 1, n));
  }
  for (ptrdiff_t j = n; j-- > 0;) a.transposed().swap_rows(j, pivots[j] - 1);
  return info;
}

}  // namespace rushlight::kernels
