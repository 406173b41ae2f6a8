// SPDX-License-Identifier: BSD-3-Clause
// Symmetric or Hermitian matrices as P L D L^T P^T, where D has blocks of size 1 and 2: the pivoting of Bunch
// and Kaufman (Mathematics of Computation, 1977), stable also for indefinite matrices, in about n^3 / 3
// multiplications. Layout as LAPACK's sytrf for the lower triangle: a pivot is the number, from 1, of the row
// that was exchanged, and negative for both rows of a block of size 2.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "kernels/checks/selection.h"
#include "kernels/linalg/factorization.h"

namespace rushlight::kernels {

namespace {

// Maps elements below the diagonal to those above: conjugates them if the matrix is Hermitian.
struct Mirror {
  bool hermitian;

  Number operator()(Number z) const { return hermitian ? conjugate(z) : z; }
  [[nodiscard]] MatrixView of(const MatrixView& a) const { return hermitian ? a.adjoint() : a.transposed(); }
};

// A diagonal block [[a, mirror(c)], [c, b]]. divide() multiplies the row vector (x, y) by its inverse. The
// pivoting keeps the determinant of such a block away from zero.
struct Block {
  Number a;
  Number b;
  Number c;
  Number mirrored;
  Number determinant;

  Block(const MatrixView& matrix, ptrdiff_t k, Mirror mirror)
      : a(matrix.get(k, k)),
        b(matrix.get(k + 1, k + 1)),
        c(matrix.get(k + 1, k)),
        mirrored(mirror(c)),
        determinant(a * b - c * mirrored) {}

  void divide(Number* x, Number* y) const {
    const Number first = (*x * b - *y * c) / determinant;
    *y = (*y * a - *x * mirrored) / determinant;
    *x = first;
  }
};

// The 1-norm, as in LAPACK: within a factor of sqrt(2) of the modulus, without a square root.
double size_of(Number z) { return std::fabs(z.real) + std::fabs(z.imag); }

// The largest magnitude in row and column k of the trailing matrix from `begin` on, the diagonal excluded,
// and its index. Reads the lower triangle only; for k = begin that is column k.
double largest_beside(const MatrixView& a, ptrdiff_t begin, ptrdiff_t k, ptrdiff_t* where) {
  double largest = 0;
  for (ptrdiff_t i = begin; i < a.rows; ++i) {
    const double size = i == k ? 0 : size_of(i < k ? a.get(k, i) : a.get(i, k));
    if (size > largest) {
      largest = size;
      *where = i;
    }
  }
  return largest;
}

// Exchanges rows and columns i < j of the trailing matrix from `begin` on, in its lower triangle. Elements
// between them move across the diagonal, from column i to row j and back, and are mirrored.
void exchange(const MatrixView& a, Mirror mirror, ptrdiff_t begin, ptrdiff_t i, ptrdiff_t j) {
  const auto swap = [&](ptrdiff_t r, ptrdiff_t s, ptrdiff_t u, ptrdiff_t v, bool mirrored) {
    const Number kept = a.get(r, s);
    const Number other = a.get(u, v);
    a.set(r, s, mirrored ? mirror(other) : other);
    a.set(u, v, mirrored ? mirror(kept) : kept);
  };
  for (ptrdiff_t k = begin; k < i; ++k) swap(i, k, j, k, false);
  for (ptrdiff_t k = i + 1; k < j; ++k) swap(k, i, j, k, true);
  for (ptrdiff_t k = j + 1; k < a.rows; ++k) swap(k, i, k, j, false);
  swap(i, i, j, j, false);
  a.set(j, i, mirror(a.get(j, i)));
}

// Returns 0, or the 1-based index of the first zero block. D then is singular, but the factorization goes on.
int32_t factor_ldl(const MatrixView& a, Pivots pivots, Mirror mirror) {
  const double growth = (1 + std::sqrt(17.0)) / 8;  // minimizes element growth over both block sizes
  int32_t info = 0;
  for (ptrdiff_t k = 0; k < a.rows;) {
    ptrdiff_t other = k;
    ptrdiff_t ignored = k;
    // The magnitudes of the diagonal element and of the largest one below it.
    const double own = size_of(a.get(k, k));
    const double column = largest_beside(a, k, k, &other);
    ptrdiff_t pivot = k;
    ptrdiff_t size = 1;
    // A zero block: nothing to eliminate, and no division.
    if (own == 0 && column == 0) {
      if (info == 0) info = static_cast<int32_t>(k + 1);
      pivots[k] = static_cast<int32_t>(k + 1);
      ++k;
      continue;
    }
    // Bunch and Kaufman's three tests. The diagonal element is the pivot if it is large beside its column, or
    // beside column^2 / row (written so that no square overflows; row >= column > 0); otherwise the diagonal
    // element of the largest element's row, if it is large in its row; otherwise both form a block.
    if (own < growth * column) {
      const double row = largest_beside(a, k, other, &ignored);
      if (own < growth * column * (column / row)) {
        pivot = other;
        size = size_of(a.get(other, other)) >= growth * row ? 1 : 2;
      }
    }
    const ptrdiff_t last = k + size - 1;
    if (pivot != last) exchange(a, mirror, k, last, pivot);
    const auto number = static_cast<int32_t>(pivot + 1);
    for (ptrdiff_t i = k; i <= last; ++i) pivots[i] = size == 1 ? number : -number;
    // Updates the trailing matrix: subtracts the columns of L times D times their mirror, and stores the
    // columns.
    Number columns[2][MatrixView::kSums];
    Number mirrored[2][MatrixView::kSums];
    for (ptrdiff_t begin = last + 1; begin < a.rows; begin += MatrixView::kSums) {
      const ptrdiff_t count = std::min(a.rows - begin, MatrixView::kSums);
      for (ptrdiff_t c = 0; c < count; ++c) {
        Number& x = columns[0][c] = a.get(begin + c, k);
        Number& y = columns[1][c];
        if (size == 1) {
          x = x / a.get(k, k);
        } else {
          y = a.get(begin + c, k + 1);
          Block(a, k, mirror).divide(&x, &y);
        }
        for (ptrdiff_t s = 0; s < size; ++s) mirrored[s][c] = mirror(columns[s][c]);
      }
      for (ptrdiff_t i = begin; i < a.rows; ++i) {
        const ptrdiff_t width = std::min(count, i - begin + 1);  // up to the diagonal
        for (ptrdiff_t s = 0; s < size; ++s) a.subtract(begin, width, a, k + s, mirrored[s], i, i + 1);
        if (mirror.hermitian && i < begin + count) a.set(i, i, a.get(i, i).real);
      }
      for (ptrdiff_t c = 0; c < count; ++c) {
        for (ptrdiff_t s = 0; s < size; ++s) a.set(begin + c, k + s, columns[s][c]);
      }
    }
    k += size;
  }
  return info;
}

// Subtracts column k of `factors` times row k of x from the rows from `begin` on.
void eliminate(const MatrixView& factors, ptrdiff_t begin, ptrdiff_t k, const MatrixView& x) {
  Number row[MatrixView::kSums];
  for (ptrdiff_t j = 0; j < x.columns; j += MatrixView::kSums) {
    const ptrdiff_t count = std::min(x.columns - j, MatrixView::kSums);
    for (ptrdiff_t c = 0; c < count; ++c) row[c] = x.get(k, j + c);
    x.subtract(j, count, factors, k, row, begin, x.rows);
  }
}

// x = P L^-T D^-1 L^-1 P^T b, block by block: downwards exchanges, eliminates and divides, upwards
// substitutes and undoes the exchanges. About n^2 multiplications for each column.
void solve_ldl(const MatrixView& factors, Pivots pivots, Mirror mirror, const MatrixView& x) {
  ptrdiff_t k = 0;
  while (k < x.rows) {
    const bool single = pivots[k] > 0;
    const ptrdiff_t next = k + (single ? 1 : 2);
    x.swap_rows(next - 1, std::abs(pivots[k]) - 1);
    for (ptrdiff_t i = k; i < next; ++i) eliminate(factors, next, i, x);
    for (ptrdiff_t j = 0; j < x.columns; ++j) {
      if (single) {
        x.set(k, j, x.get(k, j) / factors.get(k, k));
        continue;
      }
      // The block times a column equals the row times the mirrored block.
      Block block(factors, k, mirror);
      std::swap(block.c, block.mirrored);
      Number first = x.get(k, j);
      Number second = x.get(k + 1, j);
      block.divide(&first, &second);
      x.set(k, j, first);
      x.set(k + 1, j, second);
    }
    k = next;
  }
  const MatrixView mirrored = mirror.of(factors);
  while (k > 0) {
    const ptrdiff_t last = k - 1;
    const ptrdiff_t first = pivots[last] > 0 ? last : last - 1;
    for (ptrdiff_t i = first; i < k; ++i) {
      Number sums[MatrixView::kSums];
      for (ptrdiff_t j = 0; j < x.columns; j += MatrixView::kSums) {
        const ptrdiff_t count = std::min(x.columns - j, MatrixView::kSums);
        mirrored.dots(i, x, j, count, k, x.rows, sums);
        for (ptrdiff_t c = 0; c < count; ++c) x.set(i, j + c, x.get(i, j + c) - sums[c]);
      }
    }
    x.swap_rows(last, std::abs(pivots[last]) - 1);
    k = first;
  }
}

// Checks that the pivots of a matrix are valid rows and that negative ones come in pairs. solve_ldl() then
// stays inside the matrix without tests.
Error check_block_pivots(Pivots pivots, ptrdiff_t rows) {
  for (ptrdiff_t k = 0; k < rows; ++k) {
    const int64_t pivot = pivots[k];
    const bool paired = pivot > 0 || (k + 1 < rows && pivots[k + 1] == pivot);
    RL_CHECK(pivot != 0 && std::abs(pivot) <= rows && paired, Error::InvalidArgument,
             "pivots: expected rows from 1 to %ld, negative ones in pairs, got %ld", static_cast<long>(rows),
             static_cast<long>(pivot));
    if (pivot < 0) ++k;
  }
  return Error::Ok;
}

}  // namespace

Error linalg_ldl_factor_ex_out(KernelContext&, const Tensor& self, bool hermitian, bool check_errors,
                               Tensor& LD, Tensor& pivots, Tensor& info) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_ldl_factor_ex.out");
  RL_TRY(check_square(self, kTypes, "self"));
  RL_TRY(check_dtype(LD, self.scalar_type(), "LD"));
  RL_TRY(check_dtype(pivots, ScalarType::Int, "pivots"));
  RL_TRY(check_dtype(info, ScalarType::Int, "info"));
  const Shape batch = Shape::of(self, 2);
  const ptrdiff_t rows = self.size(self.dim() - 1);
  RL_TRY(resize_out(LD, self.sizes()));
  RL_TRY(resize_batched(pivots, batch, {rows}));
  RL_TRY(resize_out(info, batch.span()));
  const Mirror mirror{hermitian && is_complex(self.scalar_type())};
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView matrix = matrix_of(LD, batch, n);
    // Only the lower triangle is read. A Hermitian matrix has a real diagonal: imaginary parts are dropped.
    matrix.copy_band(matrix_of(self, batch, n), -rows, 0);
    for (ptrdiff_t i = 0; mirror.hermitian && i < rows; ++i) matrix.set(i, i, matrix.get(i, i).real);
    const int32_t stopped = factor_ldl(matrix, pivots_of(pivots, batch, n), mirror);
    int32_of(info, batch, n) = stopped;
    RL_CHECK(!check_errors || stopped == 0, Error::InvalidArgument,
             "self: matrix %lu of the batch is singular, block %ld is zero", static_cast<unsigned long>(n),
             static_cast<long>(stopped));
  }
  return Error::Ok;
}

Error linalg_ldl_solve_out(KernelContext&, const Tensor& LD, const Tensor& pivots, const Tensor& B,
                           bool hermitian, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_ldl_solve.out");
  RL_TRY(check_square(LD, kTypes, "LD"));
  RL_TRY(check_dtype(pivots, ScalarType::Int, "pivots"));
  RL_TRY(check_dtype(B, LD.scalar_type(), "B"));
  RL_TRY(check_dtype(out, LD.scalar_type(), "out"));
  const ptrdiff_t rows = LD.size(LD.dim() - 1);
  bool fits = pivots.dim() + 1 == LD.dim();
  for (ptrdiff_t d = 0; fits && d < pivots.dim(); ++d) fits = pivots.size(d) == LD.size(d);
  RL_CHECK(fits, Error::InvalidArgument, "pivots: expected %ld for each matrix", static_cast<long>(rows));
  RL_CHECK(B.dim() >= 2 && B.size(B.dim() - 2) == rows, Error::InvalidArgument,
           "B: expected matrices with %ld rows", static_cast<long>(rows));
  Shape batch;
  RL_TRY(broadcast_shape(Shape::of(LD, 2).span(), Shape::of(B, 2).span(), &batch));
  RL_TRY(resize_batched(out, batch, {rows, B.size(B.dim() - 1)}));
  // Pivots are checked and then read again, so the results must not overwrite them.
  RL_TRY(check_no_overlap(pivots, out, "pivots"));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const Pivots blocks = pivots_of(pivots, batch, n);
    RL_TRY(check_block_pivots(blocks, rows));
    const MatrixView x = matrix_of(out, batch, n);
    x.copy(matrix_of(B, batch, n));
    solve_ldl(matrix_of(LD, batch, n), blocks, {hermitian && is_complex(LD.scalar_type())}, x);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
