// SPDX-License-Identifier: BSD-3-Clause
// Factorizations of small matrices in copies of doubles on the stack, for builds for speed. To find an
// element of a view by its dtype and strides takes longer than its arithmetic: 800 systems of 5 by 5 took 5
// times as long as in LAPACK, which is called once for each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/linalg/factorization.h"
#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

// The most rows and columns of a copy: 2 kB, of complex numbers 4.
constexpr ptrdiff_t kSmallMatrix = 16;

// A matrix of N, RealNumber or ComplexNumber. Elements that were not set are not initialized.
template <class N>
class SmallMatrix {
 public:
  [[nodiscard]] N get(ptrdiff_t i, ptrdiff_t j) const {
    return N(parts_[i][j][0], parts_[i][j][kParts - 1]);  // RealNumber ignores the second
  }
  void set(ptrdiff_t i, ptrdiff_t j, N value) {
    parts_[i][j][0] = value.real;
    if constexpr (kParts == 2) parts_[i][j][1] = value.imag;
  }

  void load(const MatrixView& from) {
    with_part(from, [&](auto part) {
      for (ptrdiff_t i = 0; i < from.rows; ++i) load_row(part, from, i, 0, from.columns);
    });
  }
  // Does not read the other triangle.
  void load_triangle(const MatrixView& from, bool upper) {
    with_part(from, [&](auto part) {
      for (ptrdiff_t i = 0; i < from.rows; ++i) {
        load_row(part, from, i, upper ? i : 0, upper ? from.rows : i + 1);
      }
    });
  }
  void store(const MatrixView& to) const {
    with_part(to, [&](auto part) {
      for (ptrdiff_t i = 0; i < to.rows; ++i) store_row(part, to, i, to.columns);
    });
  }
  void store_lower(const MatrixView& to) const {
    with_part(to, [&](auto part) {
      for (ptrdiff_t i = 0; i < to.rows; ++i) store_row(part, to, i, i + 1);
    });
  }

  // Swaps the first `columns` columns of two rows.
  void swap_rows(ptrdiff_t a, ptrdiff_t b, ptrdiff_t columns) {
    if (a != b) std::swap_ranges(&parts_[a][0][0], &parts_[a][0][0] + columns * kParts, &parts_[b][0][0]);
  }
  // Divides columns [begin, end) of a row.
  void divide_row(ptrdiff_t i, N divisor, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t j = begin; j < end; ++j) set(i, j, get(i, j) / divisor);
  }
  // Subtracts row k times a factor from row i, in columns [begin, end).
  void subtract_row(ptrdiff_t i, ptrdiff_t k, N factor, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t j = begin; j < end; ++j) set(i, j, get(i, j) - factor * get(k, j));
  }

 private:
  static constexpr int kParts = std::is_same_v<N, RealNumber> ? 1 : 2;

  // Calls f(float()) or f(double()), the type of the parts of elements.
  template <class F>
  static void with_part(const MatrixView& matrix, F f) {
    if (component_type(matrix.type) == ScalarType::Float) return f(float());
    f(double());
  }

  template <class T>
  void load_row(T, const MatrixView& from, ptrdiff_t i, ptrdiff_t begin, ptrdiff_t end) {
    const double sign = from.conjugated ? -1 : 1;
    const bool is_pair = kParts == 2 && is_complex(from.type);
    const char* at = from.at(i, begin);
    for (ptrdiff_t j = begin; j < end; ++j, at += from.column_step) {
      const T* const parts = reinterpret_cast<const T*>(at);
      set(i, j, N(parts[0], is_pair ? sign * double{parts[1]} : 0));
    }
  }
  template <class T>
  void store_row(T, const MatrixView& to, ptrdiff_t i, ptrdiff_t end) const {
    const double sign = to.conjugated ? -1 : 1;
    const bool is_pair = kParts == 2 && is_complex(to.type);
    char* at = to.at(i, 0);
    for (ptrdiff_t j = 0; j < end; ++j, at += to.column_step) {
      T* const parts = reinterpret_cast<T*>(at);
      parts[0] = static_cast<T>(get(i, j).real);
      if (is_pair) parts[1] = static_cast<T>(sign * get(i, j).imag);
    }
  }

  double parts_[kSmallMatrix][kSmallMatrix][kParts];
};

// Calls f(N()) with the type of numbers that hold the elements of both matrices.
template <class F>
auto with_number(const MatrixView& a, const MatrixView& b, F f) {
  if constexpr (kSelectsComplex) {
    if (is_complex(a.type) || is_complex(b.type)) return f(ComplexNumber());
  }
  return f(RealNumber());
}

// As factor_lu(), row by row below the pivot.
template <class N>
int32_t small_lu(SmallMatrix<N>& a, ptrdiff_t rows, ptrdiff_t columns, Pivots pivots) {
  int32_t info = 0;
  for (ptrdiff_t j = 0; j < std::min(rows, columns); ++j) {
    ptrdiff_t best = j;
    double largest = -1;
    for (ptrdiff_t i = j; i < rows; ++i) {
      const double size = std::fabs(a.get(i, j).real) + std::fabs(a.get(i, j).imag);
      if (size > largest) {
        largest = size;
        best = i;
      }
    }
    pivots[j] = static_cast<int32_t>(best + 1);
    a.swap_rows(j, best, columns);
    const N pivot = a.get(j, j);
    const bool is_zero = pivot == N();
    if (is_zero && info == 0) info = static_cast<int32_t>(j + 1);
    for (ptrdiff_t i = j + 1; i < rows; ++i) {
      if (!is_zero) a.divide_row(i, pivot, j, j + 1);
      a.subtract_row(i, j, a.get(i, j), j + 1, columns);
    }
  }
  return info;
}

// As solve_triangular(), for `count` columns of b.
template <class N>
void small_solve(const SmallMatrix<N>& triangle, ptrdiff_t n, bool upper, bool unit, SmallMatrix<N>& b,
                 ptrdiff_t count) {
  for (ptrdiff_t step = 0; step < n; ++step) {
    const ptrdiff_t i = upper ? n - 1 - step : step;
    for (ptrdiff_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k) {
      b.subtract_row(i, k, triangle.get(i, k), 0, count);
    }
    if (!unit) b.divide_row(i, triangle.get(i, i), 0, count);
  }
}

// As factor_cholesky().
template <class N>
int32_t small_cholesky(SmallMatrix<N>& a, ptrdiff_t n) {
  for (ptrdiff_t j = 0; j < n; ++j) {
    double square = a.get(j, j).real;
    for (ptrdiff_t k = 0; k < j; ++k) square -= squared(a.get(j, k));
    // Negated, so that NaN is refused, too.
    if (!(square > 0)) return static_cast<int32_t>(j + 1);
    const double root = std::sqrt(square);
    a.set(j, j, root);
    for (ptrdiff_t i = j + 1; i < n; ++i) {
      N rest = a.get(i, j);
      for (ptrdiff_t k = 0; k < j; ++k) rest = rest - a.get(i, k) * conjugate(a.get(j, k));
      a.set(i, j, rest / N(root));
    }
  }
  return 0;
}

}  // namespace rushlight::kernels
