// SPDX-License-Identifier: BSD-3-Clause
// Symmetric or Hermitian matrices as P L D L^T P^T, where D has blocks of size 1 and 2: the pivoting of Bunch
// and Kaufman (Mathematics of Computation, 1977), stable also for indefinite matrices, in about n^3 / 3
// multiplications. Layout as LAPACK's sytrf for the lower triangle: a pivot is the number, from 1, of the row
// that was exchanged, and negative for both rows of a block of size 2.
#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "kernels/checks/selection.h"
#include "kernels/linalg/factorization.h"
#ifndef __OPTIMIZE_SIZE__
#include "kernels/linalg/lines.h"
#include "kernels/linalg/small_matrix.h"
#endif

namespace rushlight::kernels {

namespace {

// Maps elements below the diagonal to those above: conjugates them if the matrix is Hermitian.
struct Mirror {
  bool hermitian;

  template <class N>
  N operator()(N z) const {
    return hermitian ? conjugate(z) : z;
  }
  [[nodiscard]] MatrixView of(const MatrixView& a) const { return hermitian ? a.adjoint() : a.transposed(); }
};

#ifndef __OPTIMIZE_SIZE__
// A square matrix in double precision with contiguous columns, whose elements are found without a test of the
// dtype. N is RealNumber or ComplexNumber.
template <class N>
struct Columns {
  static constexpr int kParts = std::is_same_v<N, RealNumber> ? 1 : 2;

  double* data;
  ptrdiff_t rows;

  [[nodiscard]] double* at(ptrdiff_t i, ptrdiff_t j) const { return data + (j * rows + i) * kParts; }
  [[nodiscard]] N get(ptrdiff_t i, ptrdiff_t j) const {
    const double* const parts = at(i, j);
    return N(parts[0], parts[kParts - 1]);  // RealNumber ignores the second
  }
  void set(ptrdiff_t i, ptrdiff_t j, N value) const {
    at(i, j)[0] = value.real;
    if constexpr (kParts == 2) at(i, j)[1] = value.imag;
  }
};

// Subtracts column k times factors[c] from column begin + c, from the diagonal on.
template <class N>
[[gnu::always_inline]] inline void subtract_lanes(const Columns<N>& a, ptrdiff_t begin, ptrdiff_t count,
                                                  ptrdiff_t k, const N* factors) {
  constexpr int kParts = Columns<N>::kParts;
  for (ptrdiff_t c = 0; c < count; ++c) {
    double* const to = a.at(begin + c, begin + c);
    const double* const x = a.at(begin + c, k);
    const double real = factors[c].real;
    const double imag = factors[c].imag;
    const ptrdiff_t n = (a.rows - begin - c) * kParts;
    ptrdiff_t i = 0;
    for (; n - i >= kLanes; i += kLanes) {
      Lanes value;
      Lanes factor;
      load_lanes(to + i, &value);
      load_lanes(x + i, &factor);
      Lanes product = factor * real;
      if constexpr (kParts == 2) {
        swap_parts(factor, &factor);
        product += factor * Lanes{-imag, imag, -imag, imag};
      }
      store_lanes(value - product, to + i);
    }
    for (; i < n; i += kParts) {
      if constexpr (kParts == 1) {
        to[i] -= x[i] * real;
      } else {
        to[i] -= x[i] * real - x[i + 1] * imag;
        to[i + 1] -= x[i] * imag + x[i + 1] * real;
      }
    }
  }
}
template <class N>
RL_LOOPS void subtract_fast(const Columns<N>& a, ptrdiff_t begin, ptrdiff_t count, ptrdiff_t k,
                            const N* factors) {
  subtract_lanes(a, begin, count, k, factors);
}
template <class N>
void subtract_lower(const Columns<N>& a, ptrdiff_t begin, ptrdiff_t count, ptrdiff_t k, const N* factors) {
  if (ukernel::runs_loops()) return subtract_fast(a, begin, count, k, factors);
  subtract_lanes(a, begin, count, k, factors);
}
#else
void subtract_lower(const MatrixView& a, ptrdiff_t begin, ptrdiff_t count, ptrdiff_t k,
                    const Number* factors) {
  for (ptrdiff_t i = begin; i < a.rows; ++i) {
    a.subtract(begin, std::min(count, i - begin + 1), a, k, factors, i, i + 1);  // up to the diagonal
  }
}
#endif

// Divides by a number; several times by a complex one, in builds for speed by its reciprocal unless that
// overflows or loses digits.
template <class N>
struct Divisor {
  N value;
  N inverse;
  bool is_inverted = false;

  explicit Divisor(N divisor) : value(divisor) {
#ifndef __OPTIMIZE_SIZE__
    const double size = absolute(divisor);
    is_inverted = divisor.imag != 0 && size > 1e-150 && size < 1e150;
    if (is_inverted) inverse = N(1) / divisor;
#endif
  }

  [[nodiscard]] N divide(N x) const { return is_inverted ? x * inverse : x / value; }
};

// A diagonal block [[a, mirror(c)], [c, b]]. divide() multiplies the row vector (x, y) by its inverse. The
// pivoting keeps the determinant of such a block away from zero.
template <class N>
struct Block {
  N a;
  N b;
  N c;
  N mirrored;
  Divisor<N> determinant;

  template <class M>
  Block(const M& matrix, ptrdiff_t k, Mirror mirror)
      : a(matrix.get(k, k)),
        b(matrix.get(k + 1, k + 1)),
        c(matrix.get(k + 1, k)),
        mirrored(mirror(c)),
        determinant(a * b - c * mirrored) {}

  void divide(N* x, N* y) const {
    const N first = determinant.divide(*x * b - *y * c);
    *y = determinant.divide(*y * a - *x * mirrored);
    *x = first;
  }
};

// The 1-norm, as in LAPACK: within a factor of sqrt(2) of the modulus, without a square root.
template <class N>
double size_of(N z) {
  return std::fabs(z.real) + std::fabs(z.imag);
}

// The largest magnitude in row and column k of the trailing matrix from `begin` on, the diagonal excluded,
// and its index. Reads the lower triangle only; for k = begin that is column k.
template <class M>
double largest_beside(const M& a, ptrdiff_t begin, ptrdiff_t k, ptrdiff_t* where) {
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
template <class M>
void exchange(const M& a, Mirror mirror, ptrdiff_t begin, ptrdiff_t i, ptrdiff_t j) {
  const auto swap = [&](ptrdiff_t r, ptrdiff_t s, ptrdiff_t u, ptrdiff_t v, bool mirrored) {
    const auto kept = a.get(r, s);
    const auto other = a.get(u, v);
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
template <class M>
int32_t factor_ldl(const M& a, Pivots pivots, Mirror mirror) {
  using N = decltype(a.get(0, 0));
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
    N columns[2][MatrixView::kSums];
    N mirrored[2][MatrixView::kSums];
    for (ptrdiff_t begin = last + 1; begin < a.rows; begin += MatrixView::kSums) {
      const ptrdiff_t count = std::min(a.rows - begin, MatrixView::kSums);
      for (ptrdiff_t s = 0; s < size; ++s) {
        for (ptrdiff_t c = 0; c < count; ++c) columns[s][c] = a.get(begin + c, k + s);
      }
      if (size == 1) {
        const Divisor<N> divisor(a.get(k, k));
        for (ptrdiff_t c = 0; c < count; ++c) columns[0][c] = divisor.divide(columns[0][c]);
      } else {
        const Block<N> block(a, k, mirror);
        for (ptrdiff_t c = 0; c < count; ++c) block.divide(&columns[0][c], &columns[1][c]);
      }
      for (ptrdiff_t s = 0; s < size; ++s) {
        for (ptrdiff_t c = 0; c < count; ++c) mirrored[s][c] = mirror(columns[s][c]);
      }
      for (ptrdiff_t s = 0; s < size; ++s) subtract_lower(a, begin, count, k + s, mirrored[s]);
      for (ptrdiff_t i = begin; mirror.hermitian && i < begin + count; ++i) a.set(i, i, a.get(i, i).real);
      for (ptrdiff_t c = 0; c < count; ++c) {
        for (ptrdiff_t s = 0; s < size; ++s) a.set(begin + c, k + s, columns[s][c]);
      }
    }
    k += size;
  }
  return info;
}

#ifndef __OPTIMIZE_SIZE__
// The same in a copy, whose lower triangle becomes the factors.
template <class N>
int32_t factor_copy(const MatrixView& copy, const MatrixView& source, Pivots pivots, Mirror mirror) {
  copy.copy_band(source, -copy.rows, 0);
  const Columns<N> columns{reinterpret_cast<double*>(copy.data), copy.rows};
  for (ptrdiff_t i = 0; mirror.hermitian && i < copy.rows; ++i) columns.set(i, i, columns.get(i, i).real);
  return factor_ldl(columns, pivots, mirror);
}
#endif

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
      Block<Number> block(factors, k, mirror);
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

// Scratch in builds for speed: a matrix in double precision.
Error linalg_ldl_factor_ex_out(KernelContext& context, const Tensor& self, bool hermitian, bool check_errors,
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
#ifndef __OPTIMIZE_SIZE__
  MatrixView copy;
  RL_TRY(allocate_columns(context, exact_type(self.scalar_type()), rows, rows, &copy));
#else
  static_cast<void>(context);
#endif
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView matrix = matrix_of(LD, batch, n);
    // Only the lower triangle is read. A Hermitian matrix has a real diagonal: imaginary parts are dropped.
    const MatrixView source = matrix_of(self, batch, n);
    const Pivots rows_of_pivots = pivots_of(pivots, batch, n);
#ifndef __OPTIMIZE_SIZE__
    const int32_t stopped = with_number(source, source, [&](auto number) {
      return factor_copy<decltype(number)>(copy, source, rows_of_pivots, mirror);
    });
    matrix.copy_band(copy, -rows, 0);
#else
    matrix.copy_band(source, -rows, 0);
    for (ptrdiff_t i = 0; mirror.hermitian && i < rows; ++i) matrix.set(i, i, matrix.get(i, i).real);
    const int32_t stopped = factor_ldl(matrix, rows_of_pivots, mirror);
#endif
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
