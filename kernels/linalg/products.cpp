// SPDX-License-Identifier: BSD-3-Clause
// Tiles of a few rows and two vectors of columns: an element of the left matrix multiplies contiguous
// elements of the right one. Complex elements are multiplied by the real and the imaginary parts apart; only
// finished sums exchange parts. The last columns, less than a vector, are computed one by one.
#include "kernels/linalg/products.h"

#include <algorithm>
#include <type_traits>

#ifndef __OPTIMIZE_SIZE__
#include "kernels/linalg/lines.h"
#endif

namespace rushlight::kernels {

#ifndef __OPTIMIZE_SIZE__
namespace {

// Rows of a tile: eight vectors of sums, in both cases.
template <class A>
constexpr int kTileRows = A::kParts == 1 ? 4 : 2;
template <class A>
constexpr ptrdiff_t kWidth = kLanes / A::kParts;  // columns of a vector

double sign_of(const MatrixView& a) { return a.conjugated ? -1.0 : 1.0; }

// Signs turn sums by real and imaginary parts into parts in memory.
struct Signs {
  Lanes by_real;
  Lanes by_imag;

  // For a product stored with the sign `to`.
  Signs(double a, double b, double to)
      : by_real{1, to * b, 1, to * b}, by_imag{-a * b, to * a, -a * b, to * a} {}
};

template <class A>
[[gnu::always_inline]] inline void combine(const Lanes& by_real, const Lanes& by_imag, const Signs& signs,
                                           Lanes* result) {
  *result = by_real;
  if constexpr (A::kParts == 2) {
    Lanes swapped;
    swap_parts(by_imag, &swapped);
    *result = by_real * signs.by_real + swapped * signs.by_imag;
  }
}

// Stores the parts of contiguous elements to elements at any step.
template <class T>
[[gnu::always_inline]] inline void store_parts(const Lanes& from, const MatrixView& to, ptrdiff_t i,
                                               ptrdiff_t j) {
  using Part = typename T::Part;
  if (to.column_step == T::kSize) return store_lanes(from, reinterpret_cast<Part*>(to.at(i, j)));
  for (int c = 0; c < kLanes; ++c) {
    reinterpret_cast<Part*>(to.at(i, j + c / T::kParts))[c % T::kParts] = static_cast<Part>(from[c]);
  }
}

// One tile of the product: kRows rows from i on, kVectors vectors from column j on. Subtracts it, or stores
// it.
template <int kRows, int kVectors, bool kSubtracts, class T, class A>
[[gnu::always_inline]] inline void multiply_tile(const MatrixView& target, const MatrixView& a,
                                                 const MatrixView& b, const Signs& signs, ptrdiff_t i,
                                                 ptrdiff_t j) {
  Lanes by_real[kRows][kVectors] = {};
  Lanes by_imag[kRows][kVectors] = {};
  add_tile<kRows, kVectors, A, A>(a.at(i, 0), a.row_step, a.column_step, b.at(0, j), b.row_step, a.columns,
                                  by_real, by_imag);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      Lanes result;
      combine<A>(by_real[r][v], by_imag[r][v], signs, &result);
      const ptrdiff_t column = j + v * kWidth<A>;
      if constexpr (kSubtracts) {
        Lanes before;
        load_lanes(reinterpret_cast<const typename T::Part*>(target.at(i + r, column)), &before);
        result = before - result;
      }
      store_parts<T>(result, target, i + r, column);
    }
  }
}

// All tiles; returns the number of columns that they cover.
template <bool kSubtracts, class T, class A>
RL_LOOPS ptrdiff_t multiply_tiles(const MatrixView& target, const MatrixView& a, const MatrixView& b) {
  const Signs signs(sign_of(a), sign_of(b), sign_of(target));
  ptrdiff_t j = 0;
  for (; target.columns - j >= 2 * kWidth<A>; j += 2 * kWidth<A>) {
    ptrdiff_t i = 0;
    for (; target.rows - i >= kTileRows<A>; i += kTileRows<A>) {
      multiply_tile<kTileRows<A>, 2, kSubtracts, T, A>(target, a, b, signs, i, j);
    }
    for (; i < target.rows; ++i) multiply_tile<1, 2, kSubtracts, T, A>(target, a, b, signs, i, j);
  }
  for (; target.columns - j >= kWidth<A>; j += kWidth<A>) {
    for (ptrdiff_t i = 0; i < target.rows; ++i) {
      multiply_tile<1, 1, kSubtracts, T, A>(target, a, b, signs, i, j);
    }
  }
  return j;
}

// The rows of a triangular system that are solved together, and their part of the triangle.
template <class A>
struct DiagonalBlock {
  static constexpr int kRows = kTileRows<A>;

  Number factors[kRows][kRows];
  Number inverses[kRows];
  bool is_exact = true;  // the inverses neither overflow nor lose digits

  DiagonalBlock(const MatrixView& triangle, bool unit, ptrdiff_t first, ptrdiff_t direction, int rows) {
    for (int r = 0; r < rows; ++r) {
      const ptrdiff_t i = first + r * direction;
      for (int q = 0; q < r; ++q) factors[r][q] = triangle.get(i, first + q * direction);
      if (unit) continue;
      const Number divisor = triangle.get(i, i);
      const double size = absolute(divisor);
      is_exact = is_exact && size > 1e-300 && size < 1e300;
      inverses[r] = Number(1) / divisor;
    }
  }
};

// Multiplies elements by a number, in memory with the sign `sign`.
template <class A>
[[gnu::always_inline]] inline void multiply_lanes(const Lanes& x, Number factor, double sign, Lanes* result) {
  if constexpr (A::kParts == 2) {
    Lanes swapped;
    swap_parts(x, &swapped);
    const double imag = sign * factor.imag;
    *result = x * factor.real + swapped * Lanes{-imag, imag, -imag, imag};
  } else {
    *result = x * factor.real;
  }
}

// Elements of a triangle beside its diagonal block: row r and solved row k are at data + r * row_step + k *
// step.
struct Beside {
  const char* data;
  ptrdiff_t row_step;
  ptrdiff_t step;
};

// Solves kRows rows of kVectors vectors of columns from j on. Row r is number first + r * direction; `solved`
// has the solved rows. X is the type of elements beside the block.
template <int kRows, int kVectors, class X, class A>
[[gnu::always_inline]] inline void solve_tile(const Beside& beside, const DiagonalBlock<A>& block, bool unit,
                                              const Signs& signs, const MatrixView& b,
                                              const MatrixView& solved, ptrdiff_t first, ptrdiff_t direction,
                                              ptrdiff_t j) {
  using T = typename A::Part;
  const double sign = sign_of(b);
  Lanes by_real[kRows][kVectors] = {};
  Lanes by_imag[kRows][kVectors] = {};
  add_tile<kRows, kVectors, X, A>(beside.data, beside.row_step, beside.step, solved.at(0, j), b.row_step,
                                  solved.rows, by_real, by_imag);
  Lanes x[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      T* const at = reinterpret_cast<T*>(b.at(first + r * direction, j + v * kWidth<A>));
      Lanes sum;
      load_lanes(at, &x[r][v]);
      combine<A>(by_real[r][v], by_imag[r][v], signs, &sum);
      x[r][v] -= sum;
#pragma GCC unroll 8
      for (int q = 0; q < r; ++q) {
        multiply_lanes<A>(x[q][v], block.factors[r][q], sign, &sum);
        x[r][v] -= sum;
      }
      if (!unit) multiply_lanes<A>(x[r][v], block.inverses[r], sign, &x[r][v]);
      store_lanes(x[r][v], at);
    }
  }
}

// The same for all columns that vectors hold, and kRows rows or one.
template <class X, class A>
RL_LOOPS void solve_block(const Beside& beside, const DiagonalBlock<A>& block, bool unit, bool is_whole,
                          const Signs& signs, const MatrixView& b, const MatrixView& solved, ptrdiff_t first,
                          ptrdiff_t direction) {
  constexpr int kRows = kTileRows<A>;
  ptrdiff_t j = 0;
  for (; b.columns - j >= 2 * kWidth<A>; j += 2 * kWidth<A>) {
    if (is_whole) {
      solve_tile<kRows, 2, X, A>(beside, block, unit, signs, b, solved, first, direction, j);
    } else {
      solve_tile<1, 2, X, A>(beside, block, unit, signs, b, solved, first, direction, j);
    }
  }
  if (b.columns - j < kWidth<A>) return;
  if (is_whole) {
    solve_tile<kRows, 1, X, A>(beside, block, unit, signs, b, solved, first, direction, j);
  } else {
    solve_tile<1, 1, X, A>(beside, block, unit, signs, b, solved, first, direction, j);
  }
}

// All rows and as many columns as vectors hold; returns these. Stops before a block of rows whose divisors
// have no exact inverses, with its number of rows solved before in `solved`.
template <class A>
ptrdiff_t solve_tiles(const MatrixView& triangle, bool upper, bool unit, const MatrixView& b,
                      ptrdiff_t* solved) {
  using Copy = Stored<double, A::kParts>;
  constexpr int kRows = kTileRows<A>;
  constexpr ptrdiff_t kCopied = 64;
  const Signs signs(sign_of(triangle), sign_of(b), sign_of(b));
  const ptrdiff_t direction = upper ? -1 : 1;
  double copy[kCopied * kRows * A::kParts];
  ptrdiff_t step = 0;
  while (step < b.rows) {
    const bool is_whole = b.rows - step >= kRows;
    const int rows = is_whole ? kRows : 1;
    const ptrdiff_t first = upper ? b.rows - 1 - step : step;
    const ptrdiff_t begin = upper ? first + 1 : 0;
    const DiagonalBlock<A> block(triangle, unit, first, direction, rows);
    if (!block.is_exact) break;
    MatrixView done = b.leading(step, b.columns);
    done.data = b.at(begin, 0);
    const Beside beside = {triangle.at(first, begin), direction * triangle.row_step, triangle.column_step};
    if (step <= kCopied && !std::is_same_v<A, Copy>) {
      // A copy in double, so that elements are converted once for all columns.
      for (ptrdiff_t k = 0; k < step; ++k) {
        for (int r = 0; r < rows; ++r) {
          const auto* const parts =
              reinterpret_cast<const typename A::Part*>(beside.data + r * beside.row_step + k * beside.step);
          for (int part = 0; part < A::kParts; ++part) copy[(k * kRows + r) * A::kParts + part] = parts[part];
        }
      }
      const Beside copied = {reinterpret_cast<const char*>(copy), Copy::kSize, kRows * Copy::kSize};
      solve_block<Copy, A>(copied, block, unit, is_whole, signs, b, done, first, direction);
    } else {
      solve_block<A, A>(beside, block, unit, is_whole, signs, b, done, first, direction);
    }
    step += rows;
  }
  *solved = step;
  return b.columns / kWidth<A> * kWidth<A>;
}

}  // namespace
#endif

void multiply(const MatrixView& target, const MatrixView& a, const MatrixView& b) {
  ptrdiff_t j = 0;
#ifndef __OPTIMIZE_SIZE__
  if (a.type == exact_type(a.type) && a.type == b.type && b.has_rows()) {
    static_cast<void>(with_types(target, a, [&](auto t, auto x) {
      using A = decltype(x);
      if constexpr (std::is_same_v<typename A::Part, double>) {
        j = multiply_tiles<false, decltype(t), A>(target, a, b);
      }
    }));
  }
#endif
  Number sums[MatrixView::kSums];
  for (; j < target.columns; j += MatrixView::kSums) {
    const ptrdiff_t count = std::min(target.columns - j, MatrixView::kSums);
    for (ptrdiff_t i = 0; i < target.rows; ++i) {
      a.dots(i, b, j, count, 0, a.columns, sums);
      for (ptrdiff_t c = 0; c < count; ++c) target.set(i, j + c, sums[c]);
    }
  }
}

#ifndef __OPTIMIZE_SIZE__
bool subtract_product(const MatrixView& target, const MatrixView& a, const MatrixView& b) {
  if (a.type != target.type || b.type != target.type || !target.has_rows() || !b.has_rows()) return false;
  const ptrdiff_t least = is_complex(a.type) ? kLanes / 2 : kLanes;
  if (target.columns < least) return false;
  ptrdiff_t j = 0;
  const bool is_done = with_types(target, a, [&](auto t, auto x) {
    using A = decltype(x);
    if constexpr (std::is_same_v<decltype(t), A>) j = multiply_tiles<true, A, A>(target, a, b);
  });
  for (; is_done && j < target.columns; ++j) {
    for (ptrdiff_t i = 0; i < target.rows; ++i) {
      target.set(i, j, target.get(i, j) - a.dot(i, b, j, 0, a.columns));
    }
  }
  return is_done;
}

bool solve_rows(const MatrixView& triangle, bool upper, bool unit, const MatrixView& b) {
  if (triangle.type != b.type || !b.has_rows()) return false;
  ptrdiff_t columns = 0;
  ptrdiff_t solved = 0;
  const bool is_done =
      b.columns >= (is_complex(b.type) ? kLanes / 2 : kLanes) && with_types(triangle, b, [&](auto a, auto x) {
        using A = decltype(a);
        if constexpr (std::is_same_v<decltype(x), A>) {
          columns = solve_tiles<A>(triangle, upper, unit, b, &solved);
        }
      });
  // The rest, element by element: columns that fill no vector, and rows after a divisor that is nearly zero.
  for (ptrdiff_t step = 0; is_done && step < b.rows; ++step) {
    const ptrdiff_t i = upper ? b.rows - 1 - step : step;
    const ptrdiff_t begin = upper ? i + 1 : 0;
    const ptrdiff_t end = upper ? b.rows : i;
    for (ptrdiff_t j = step < solved ? columns : 0; j < b.columns; ++j) {
      const Number rest = b.get(i, j) - triangle.dot(i, b, j, begin, end);
      b.set(i, j, unit ? rest : rest / triangle.get(i, i));
    }
  }
  return is_done;
}
#endif

}  // namespace rushlight::kernels
