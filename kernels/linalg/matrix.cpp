// SPDX-License-Identifier: BSD-3-Clause
// Element access converts on the fly; the methods of rows and columns, which take most of the time, have
// loops for each dtype in builds for speed, and for doubles in builds for size. An access costs an address, a
// test of the dtype and a conversion, which is little beside double arithmetic on cores without an FPU, and
// lets every algorithm work in place on any layout and dtype.
#include "kernels/linalg/matrix.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#ifndef __OPTIMIZE_SIZE__
#include "kernels/linalg/lines.h"
#endif
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

ComplexNumber divide_complex(ComplexNumber a, ComplexNumber b) {
  const Complex<double> result = Complex<double>(a.real, a.imag) / Complex<double>(b.real, b.imag);
  return {result.real, result.imag};
}

MatrixView MatrixView::dense(void* data, ScalarType type, ptrdiff_t rows, ptrdiff_t columns) {
  const auto element = static_cast<ptrdiff_t>(element_size(type));
  return {static_cast<char*>(data), type, rows, columns, columns * element, element};
}

// Exchanges the steps: no element moves.
MatrixView MatrixView::transposed() const {
  return {data, type, columns, rows, column_step, row_step, conjugated};
}

MatrixView MatrixView::adjoint() const { return transposed().conjugate_of(); }

MatrixView MatrixView::conjugate_of() const {
  MatrixView matrix = *this;
  matrix.conjugated = !conjugated;
  return matrix;
}

MatrixView MatrixView::leading(ptrdiff_t some_rows, ptrdiff_t some_columns) const {
  MatrixView matrix = *this;
  matrix.rows = some_rows;
  matrix.columns = some_columns;
  return matrix;
}

namespace {

#ifdef __OPTIMIZE_SIZE__
bool are_real_doubles(const MatrixView& a, const MatrixView& b) {
  return a.type == ScalarType::Double && b.type == ScalarType::Double;
}

double& double_at(const MatrixView& a, ptrdiff_t i, ptrdiff_t j) {
  return *reinterpret_cast<double*>(a.at(i, j));
}
#else
// The sum of products from four sums: of the products of all parts, alternately of equal parts (real,
// imaginary), and of the real part of a with the imaginary one of b and the reverse.
template <int kParts>
Number combined(const double* equal, const double* crossed, double sign_a, double sign_b) {
  if constexpr (kParts == 1) return equal[0];
  return {equal[0] - sign_a * sign_b * equal[1], sign_b * crossed[0] + sign_a * crossed[1]};
}

// Several sums side by side: the additions of one wait for each other.
template <class A, class B>
RL_LOOPS Number sum_of_products(const Line& a, const Line& b, ptrdiff_t n) {
  constexpr int kParts = A::kParts;
  constexpr int kSide = 4;
  Lanes equal[kSide] = {};
  Lanes crossed[kSide] = {};  // of the exchanged parts of a
  ptrdiff_t k = 0;
  if (a.step == A::kSize && b.step == B::kSize) {
    const auto* const x = a.at<const typename A::Part>(0);
    const auto* const y = b.at<const typename B::Part>(0);
    const auto add = [&](ptrdiff_t at, Lanes* same, Lanes* other) __attribute__((always_inline)) {
      Lanes value;
      Lanes factor;
      load_lanes(x + at, &value);
      load_lanes(y + at, &factor);
      *same += value * factor;
      if constexpr (kParts == 2) {
        swap_parts(value, &value);
        *other += value * factor;
      }
    };
    const ptrdiff_t parts = n * kParts;
    ptrdiff_t part = 0;
    for (; parts - part >= kSide * kLanes; part += kSide * kLanes) {
#pragma GCC unroll 4
      for (int side = 0; side < kSide; ++side) add(part + side * kLanes, &equal[side], &crossed[side]);
    }
    for (; parts - part >= kLanes; part += kLanes) add(part, &equal[0], &crossed[0]);
    k = part / kParts;
  }
  const Lanes same = (equal[0] + equal[1]) + (equal[2] + equal[3]);
  const Lanes other = (crossed[0] + crossed[1]) + (crossed[2] + crossed[3]);
  if constexpr (kParts == 1) {
    double sums[kSide] = {same[0], same[1], same[2], same[3]};
    for (; n - k >= kSide; k += kSide) {
#pragma GCC unroll 4
      for (ptrdiff_t c = 0; c < kSide; ++c) {
        sums[c] +=
            double{*a.at<const typename A::Part>(k + c)} * double{*b.at<const typename B::Part>(k + c)};
      }
    }
    for (; k < n; ++k) {
      sums[0] += double{*a.at<const typename A::Part>(k)} * double{*b.at<const typename B::Part>(k)};
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  } else {
    double parallel[] = {same[0] + same[2], same[1] + same[3]};
    double across[] = {other[1] + other[3], other[0] + other[2]};
    for (; k < n; ++k) {
      const auto* const x = a.at<const typename A::Part>(k);
      const auto* const y = b.at<const typename B::Part>(k);
      parallel[0] += double{x[0]} * double{y[0]};
      parallel[1] += double{x[1]} * double{y[1]};
      across[0] += double{x[0]} * double{y[1]};
      across[1] += double{x[1]} * double{y[0]};
    }
    return combined<2>(parallel, across, a.sign, b.sign);
  }
}

// Columns [first, first + width) of sums_of_rows().
template <int kVectors, class A, class B>
[[gnu::always_inline]] inline void sum_vectors(const Line& a, const Line& b, ptrdiff_t first, ptrdiff_t n,
                                               Number* sums) {
  constexpr int kParts = A::kParts;
  Lanes by_real[1][kVectors] = {};
  Lanes by_imag[1][kVectors] = {};
  add_tile<1, kVectors, A, B>(a.data, 0, a.step, b.data + first * B::kSize, b.step, n, by_real, by_imag);
  for (int c = 0; c < kVectors * kLanes; c += kParts) {
    const double real = by_real[0][c / kLanes][c % kLanes];
    if constexpr (kParts == 1) {
      sums[first + c] = real;
    } else {
      const double equal[] = {real, by_imag[0][c / kLanes][c % kLanes + 1]};
      const double crossed[] = {by_real[0][c / kLanes][c % kLanes + 1], by_imag[0][c / kLanes][c % kLanes]};
      sums[first + c / 2] = combined<2>(equal, crossed, a.sign, b.sign);
    }
  }
}

// sums[c] = sum over k of a[k] * b(k, c), for contiguous rows of b: several columns in registers.
template <class A, class B>
RL_LOOPS void sums_of_rows(const Line& a, const Line& b, ptrdiff_t count, ptrdiff_t n, Number* sums) {
  constexpr int kMany = 4;
  constexpr ptrdiff_t kWidth = kLanes / A::kParts;
  ptrdiff_t c = 0;
  for (; count - c >= kMany * kWidth; c += kMany * kWidth) sum_vectors<kMany, A, B>(a, b, c, n, sums);
  for (; count - c >= kWidth; c += kWidth) sum_vectors<1, A, B>(a, b, c, n, sums);
  for (; c < count; ++c) {
    const Line column = {b.data + c * B::kSize, b.step, b.sign};
    sums[c] = sum_of_products<A, B>(a, column, n);
  }
}

// sums[c] = sum over k of a[k] * b(k, c) for kColumns contiguous columns of b, and a contiguous `a`: the
// columns share the loads of `a`.
template <int kColumns, class A>
RL_LOOPS void sums_of_columns(const Line& a, const Line& b, ptrdiff_t column_step, ptrdiff_t n,
                              Number* sums) {
  constexpr int kParts = A::kParts;
  using T = typename A::Part;
  const ptrdiff_t whole = n * kParts / kLanes * kLanes;
  Lanes equal[kColumns] = {};
  Lanes crossed[kColumns] = {};
  const T* const x = a.at<const T>(0);
  for (ptrdiff_t k = 0; k < whole; k += kLanes) {
    Lanes values;
    Lanes swapped;
    load_lanes(x + k, &values);
    if constexpr (kParts == 2) swap_parts(values, &swapped);
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) {
      Lanes y;
      load_lanes(reinterpret_cast<const T*>(b.data + c * column_step) + k, &y);
      equal[c] += values * y;
      if constexpr (kParts == 2) crossed[c] += swapped * y;
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) {
    const T* const y = reinterpret_cast<const T*>(b.data + c * column_step);
    if constexpr (kParts == 1) {
      double sum = (equal[c][0] + equal[c][1]) + (equal[c][2] + equal[c][3]);
      for (ptrdiff_t k = whole; k < n; ++k) sum += double{x[k]} * double{y[k]};
      sums[c] = sum;
    } else {
      double same[] = {equal[c][0] + equal[c][2], equal[c][1] + equal[c][3]};
      double other[] = {crossed[c][1] + crossed[c][3], crossed[c][0] + crossed[c][2]};
      for (ptrdiff_t k = whole; k < 2 * n; k += 2) {
        same[0] += double{x[k]} * double{y[k]};
        same[1] += double{x[k + 1]} * double{y[k + 1]};
        other[0] += double{x[k]} * double{y[k + 1]};
        other[1] += double{x[k + 1]} * double{y[k]};
      }
      sums[c] = combined<2>(same, other, a.sign, b.sign);
    }
  }
}

// The parts of the factors that the real and the imaginary part of a value multiply.
struct Factors {
  double by_real[MatrixView::kSums * 2];
  double by_imag[MatrixView::kSums * 2];
};

// Subtracts value[i] * factors[c] from a(i, c): contiguous rows of `a`. The factors stay in registers.
template <class A>
RL_LOOPS void subtract_rows(const Line& a, const Line& values, const Factors& factors, ptrdiff_t count,
                            ptrdiff_t n) {
  constexpr int kParts = A::kParts;
  using T = typename A::Part;
  ptrdiff_t c = 0;
  for (; count * kParts - c >= kLanes; c += kLanes) {
    Lanes by_real;
    Lanes by_imag;
    load_lanes(factors.by_real + c, &by_real);
    if constexpr (kParts == 2) load_lanes(factors.by_imag + c, &by_imag);
    for (ptrdiff_t i = 0; i < n; ++i) {
      T* const to = a.at<T>(i) + c;
      const T* const x = values.at<const T>(i);
      Lanes value;
      load_lanes(to, &value);
      Lanes product = double{x[0]} * by_real;
      if constexpr (kParts == 2) product += double{x[1]} * by_imag;
      store_lanes(value - product, to);
    }
  }
  for (; c < count * kParts; ++c) {
    for (ptrdiff_t i = 0; i < n; ++i) {
      T* const to = a.at<T>(i) + c;
      const T* const x = values.at<const T>(i);
      double product = double{x[0]} * factors.by_real[c];
      if constexpr (kParts == 2) product += double{x[1]} * factors.by_imag[c];
      *to = static_cast<T>(double{*to} - product);
    }
  }
}

// The same for kColumns contiguous columns from c on, and contiguous values, whose loads they share.
template <int kColumns, class A>
RL_LOOPS void subtract_columns(const Line& a, ptrdiff_t column_step, const Line& values,
                               const Factors& factors, ptrdiff_t c, ptrdiff_t n) {
  constexpr int kParts = A::kParts;
  using T = typename A::Part;
  Lanes own[kColumns];
  Lanes other[kColumns];
  T* to[kColumns];
#pragma GCC unroll 4
  for (int k = 0; k < kColumns; ++k) {
    const double* const by_real = factors.by_real + (c + k) * kParts;
    const double* const by_imag = factors.by_imag + (c + k) * kParts;
    own[k] = kParts == 1 ? Lanes{} + by_real[0] : Lanes{by_real[0], by_imag[1], by_real[0], by_imag[1]};
    if constexpr (kParts == 2) other[k] = Lanes{by_imag[0], by_real[1], by_imag[0], by_real[1]};
    to[k] = reinterpret_cast<T*>(a.data + k * column_step);
  }
  const T* const x = values.at<const T>(0);
  ptrdiff_t i = 0;
  for (; n * kParts - i >= kLanes; i += kLanes) {
    Lanes value;
    Lanes swapped;
    load_lanes(x + i, &value);
    if constexpr (kParts == 2) swap_parts(value, &swapped);
#pragma GCC unroll 4
    for (int k = 0; k < kColumns; ++k) {
      Lanes rest;
      load_lanes(to[k] + i, &rest);
      Lanes product = value * own[k];
      if constexpr (kParts == 2) product += swapped * other[k];
      store_lanes(rest - product, to[k] + i);
    }
  }
  for (; i < n * kParts; i += kParts) {
    for (int k = 0; k < kColumns; ++k) {
      for (int part = 0; part < kParts; ++part) {
        double product = double{x[i]} * factors.by_real[(c + k) * kParts + part];
        if constexpr (kParts == 2) product += double{x[i + 1]} * factors.by_imag[(c + k) * kParts + part];
        to[k][i + part] = static_cast<T>(double{to[k][i + part]} - product);
      }
    }
  }
}

// The same for column c alone, of any layout.
template <class A>
RL_LOOPS void subtract_column(const Line& a, const Line& values, const Factors& factors, ptrdiff_t c,
                              ptrdiff_t n) {
  constexpr int kParts = A::kParts;
  using T = typename A::Part;
  const double* const by_real = factors.by_real + c * kParts;
  const double* const by_imag = factors.by_imag + c * kParts;
  for (ptrdiff_t i = 0; i < n; ++i) {
    T* const to = a.at<T>(i);
    const T* const x = values.at<const T>(i);
    for (int part = 0; part < kParts; ++part) {
      double product = double{x[0]} * by_real[part];
      if constexpr (kParts == 2) product += double{x[1]} * by_imag[part];
      to[part] = static_cast<T>(double{to[part]} - product);
    }
  }
}

// Multiplies n elements by a factor.
template <class A>
RL_LOOPS void multiply_line(const Line& a, Number factor, ptrdiff_t n) {
  using T = typename A::Part;
  const double imag = a.sign * factor.imag;
  if (A::kParts == 1 && a.step == A::kSize) {
    T* const x = a.at<T>(0);
    for (ptrdiff_t i = 0; i < n; ++i) x[i] = static_cast<T>(double{x[i]} * factor.real);
    return;
  }
  ptrdiff_t i = 0;
  for (; A::kParts == 2 && a.step == A::kSize && n - i >= kLanes / 2; i += kLanes / 2) {
    Lanes value;
    Lanes swapped;
    load_lanes(a.at<T>(i), &value);
    swap_parts(value, &swapped);
    store_lanes(value * factor.real + swapped * Lanes{-imag, imag, -imag, imag}, a.at<T>(i));
  }
  for (; i < n; ++i) {
    T* const x = a.at<T>(i);
    if constexpr (A::kParts == 1) {
      x[0] = static_cast<T>(double{x[0]} * factor.real);
    } else {
      const double re = x[0];
      const double im = x[1];
      x[0] = static_cast<T>(re * factor.real - im * imag);
      x[1] = static_cast<T>(re * imag + im * factor.real);
    }
  }
}
#endif

}  // namespace

// Sums are in double: long sums of float32 elements are rounded once, when the result is stored.
Number MatrixView::dot(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t begin,
                       ptrdiff_t end) const {
  Number sum;
#ifdef __OPTIMIZE_SIZE__
  if (are_real_doubles(*this, other)) {
    for (ptrdiff_t k = begin; k < end; ++k) sum.real += double_at(*this, i, k) * double_at(other, k, j);
    return sum;
  }
#else
  constexpr ptrdiff_t kShort = 4;  // products that take less time than the start of a loop
  const bool is_done = end - begin > kShort && with_types(*this, other, [&](auto a, auto b) {
                         sum = sum_of_products<decltype(a), decltype(b)>(
                             row_of(*this, i, begin), column_of(other, begin, j), end - begin);
                       });
  if (is_done) return sum;
#endif
  for (ptrdiff_t k = begin; k < end; ++k) sum = sum + get(i, k) * other.get(k, j);
  return sum;
}

void MatrixView::dots(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t count, ptrdiff_t begin,
                      ptrdiff_t end, Number* sums) const {
  RL_DCHECK(count <= kSums);
#ifndef __OPTIMIZE_SIZE__
  if (other.has_rows()) {
    const bool is_done = with_types(*this, other, [&](auto a, auto b) {
      sums_of_rows<decltype(a), decltype(b)>(row_of(*this, i, begin), column_of(other, begin, j), count,
                                             end - begin, sums);
    });
    if (is_done) return;
  }
  const auto size = static_cast<ptrdiff_t>(element_size(type));
  ptrdiff_t c = 0;
  if (type == other.type && column_step == size && other.row_step == size) {
    static_cast<void>(with_types(*this, other, [&](auto a, auto b) {
      using A = decltype(a);
      if constexpr (std::is_same_v<A, decltype(b)>) {
        const Line values = row_of(*this, i, begin);
        const ptrdiff_t n = end - begin;
        for (; count - c >= 4; c += 4) {
          sums_of_columns<4, A>(values, column_of(other, begin, j + c), other.column_step, n, sums + c);
        }
        for (; count - c >= 2; c += 2) {
          sums_of_columns<2, A>(values, column_of(other, begin, j + c), other.column_step, n, sums + c);
        }
      }
    }));
  }
#else
  ptrdiff_t c = 0;
#endif
  for (; c < count; ++c) sums[c] = dot(i, other, j + c, begin, end);
}

void MatrixView::subtract(ptrdiff_t j, ptrdiff_t count, const MatrixView& other, ptrdiff_t k,
                          const Number* factors, ptrdiff_t begin, ptrdiff_t end) const {
#ifdef __OPTIMIZE_SIZE__
  if (are_real_doubles(*this, other)) {
    for (ptrdiff_t i = begin; i < end; ++i) {
      const double value = double_at(other, i, k);
      for (ptrdiff_t c = 0; c < count; ++c) double_at(*this, i, j + c) -= value * factors[c].real;
    }
    return;
  }
#else
  RL_DCHECK(count <= kSums);
  const Line values = column_of(other, begin, k);
  const Line first = column_of(*this, begin, j);
  Factors parts;
  const bool is_pair = is_complex(type);
  // With v = x + s y i in memory, v f = (x + s y i) (re + im i), whose imaginary part is stored with the sign
  // of this matrix.
  for (ptrdiff_t c = 0; c < count; ++c) {
    const double real = factors[c].real;
    const double imag = factors[c].imag;
    const ptrdiff_t at = is_pair ? 2 * c : c;
    parts.by_real[at] = real;
    if (!is_pair) continue;
    parts.by_real[at + 1] = first.sign * imag;
    parts.by_imag[at] = -values.sign * imag;
    parts.by_imag[at + 1] = first.sign * values.sign * real;
  }
  const bool is_done =
      type == other.type && with_types(*this, other, [&](auto a, auto b) {
        using A = decltype(a);
        // Both are of one dtype wherever time matters.
        if constexpr (std::is_same_v<A, decltype(b)>) {
          if (has_rows()) return subtract_rows<A>(first, values, parts, count, end - begin);
          ptrdiff_t c = 0;
          if (row_step == A::kSize && values.step == A::kSize) {
            const ptrdiff_t n = end - begin;
            for (; count - c >= 4; c += 4) {
              subtract_columns<4, A>(column_of(*this, begin, j + c), column_step, values, parts, c, n);
            }
            for (; count - c >= 2; c += 2) {
              subtract_columns<2, A>(column_of(*this, begin, j + c), column_step, values, parts, c, n);
            }
            for (; c < count; ++c) {
              subtract_columns<1, A>(column_of(*this, begin, j + c), 0, values, parts, c, end - begin);
            }
          }
          for (; c < count; ++c) {
            subtract_column<A>(column_of(*this, begin, j + c), values, parts, c, end - begin);
          }
        }
      });
  if (is_done) return;
#endif
  for (ptrdiff_t i = begin; i < end; ++i) {
    const Number value = other.get(i, k);
    for (ptrdiff_t c = 0; c < count; ++c) set(i, j + c, get(i, j + c) - value * factors[c]);
  }
}

void MatrixView::multiply_column(ptrdiff_t j, Number factor, ptrdiff_t begin, ptrdiff_t end) const {
#ifndef __OPTIMIZE_SIZE__
  const bool is_done = with_types(*this, *this, [&](auto a, auto) {
    multiply_line<decltype(a)>(column_of(*this, begin, j), factor, end - begin);
  });
  if (is_done) return;
#endif
  for (ptrdiff_t i = begin; i < end; ++i) set(i, j, get(i, j) * factor);
}

void MatrixView::divide_column(ptrdiff_t j, Number divisor, ptrdiff_t begin, ptrdiff_t end) const {
#ifndef __OPTIMIZE_SIZE__
  // By the reciprocal, unless that overflows or loses digits.
  const double size = absolute(divisor);
  if (size > 1e-300 && size < 1e300) return multiply_column(j, Number(1) / divisor, begin, end);
#endif
  for (ptrdiff_t i = begin; i < end; ++i) set(i, j, get(i, j) / divisor);
}

// The rows of one view have the same dtype: bits move, without conversion.
void MatrixView::swap_rows(ptrdiff_t a, ptrdiff_t b) const {
  if (a == b) return;
#ifndef __OPTIMIZE_SIZE__
  const size_t size = element_size(type);
  char* x = at(a, 0);
  char* y = at(b, 0);
  for (ptrdiff_t j = 0; j < columns; ++j, x += column_step, y += column_step) {
    for (size_t part = 0; part < size; part += sizeof(uint32_t)) {
      uint32_t kept[2];
      std::memcpy(&kept[0], x + part, sizeof(uint32_t));
      std::memcpy(&kept[1], y + part, sizeof(uint32_t));
      std::memcpy(x + part, &kept[1], sizeof(uint32_t));
      std::memcpy(y + part, &kept[0], sizeof(uint32_t));
    }
  }
#else
  for (ptrdiff_t j = 0; j < columns; ++j) {
    const Number kept = get(a, j);
    set(a, j, get(b, j));
    set(b, j, kept);
  }
#endif
}

#ifndef __OPTIMIZE_SIZE__
namespace {

// Zeros in columns [begin, end) of a row. All bits of a zero are 0.
void clear_row(const MatrixView& a, ptrdiff_t i, ptrdiff_t begin, ptrdiff_t end) {
  const size_t size = element_size(a.type);
  if (end <= begin) return;
  if (a.column_step == static_cast<ptrdiff_t>(size)) {
    std::memset(a.at(i, begin), 0, static_cast<size_t>(end - begin) * size);
    return;
  }
  for (ptrdiff_t j = begin; j < end; ++j) {
    const uint32_t zero = 0;
    for (size_t part = 0; part < size; part += sizeof(zero))
      std::memcpy(a.at(i, j) + part, &zero, sizeof(zero));
  }
}

// Zeros outside of diagonals [lowest, highest], along contiguous columns or rows.
void clear_around(const MatrixView& a, ptrdiff_t lowest, ptrdiff_t highest) {
  if (lowest <= 1 - a.rows && highest >= a.columns - 1) return;
  if (a.row_step < a.column_step) return clear_around(a.transposed(), -highest, -lowest);
  for (ptrdiff_t i = 0; i < a.rows; ++i) {
    clear_row(a, i, 0, std::min(i + lowest, a.columns));
    clear_row(a, i, std::max<ptrdiff_t>(i + highest + 1, 0), a.columns);
  }
}

}  // namespace
#endif

#ifndef __OPTIMIZE_SIZE__
namespace {

// Copies n elements whose steps are numbers, or constants, for which compilers make vectors.
template <class A, class B, class X, class Y>
[[gnu::always_inline]] inline void convert(char* to, X to_step, const char* from, Y from_step, ptrdiff_t n,
                                           double sign) {
  using T = typename A::Part;
  using U = typename B::Part;
  for (ptrdiff_t i = 0; i < n; ++i) {
    T* const x = reinterpret_cast<T*>(to + i * to_step);
    const U* const y = reinterpret_cast<const U*>(from + i * from_step);
    if constexpr (A::kParts == 1) {
      x[0] = static_cast<T>(y[0]);
    } else {
      using Pair __attribute__((vector_size(2 * sizeof(T)))) = T;
      using Source __attribute__((vector_size(2 * sizeof(U)))) = U;
      Source source;
      std::memcpy(&source, y, sizeof(source));
      const Pair pair = __builtin_convertvector(source, Pair) * Pair{1, static_cast<T>(sign)};
      std::memcpy(x, &pair, sizeof(pair));
    }
  }
}

// Elements on diagonals [lowest, highest]. In blocks of rows, so that cache lines of both layouts are read
// and written once.
template <class A, class B>
RL_LOOPS void convert_band(const MatrixView& to, const MatrixView& from, ptrdiff_t lowest,
                           ptrdiff_t highest) {
  constexpr ptrdiff_t kBlock = 64;
  constexpr std::integral_constant<ptrdiff_t, A::kSize> kNextTo;
  constexpr std::integral_constant<ptrdiff_t, B::kSize> kNextFrom;
  const double sign = to.conjugated == from.conjugated ? 1 : -1;
  for (ptrdiff_t block = 0; block < to.rows; block += kBlock) {
    for (ptrdiff_t j = 0; j < to.columns; ++j) {
      const ptrdiff_t begin = std::max(block, j - highest);
      const ptrdiff_t n = std::min({block + kBlock, to.rows, j - lowest + 1}) - begin;
      char* const x = to.at(begin, j);
      const char* const y = from.at(begin, j);
      if (to.row_step == A::kSize) {
        convert<A, B>(x, kNextTo, y, from.row_step, n, sign);
      } else if (from.row_step == B::kSize) {
        convert<A, B>(x, to.row_step, y, kNextFrom, n, sign);
      } else {
        convert<A, B>(x, to.row_step, y, from.row_step, n, sign);
      }
    }
  }
}

}  // namespace
#endif

// Reads every element at most once, and writes each after its read, so `source` may be this view.
void MatrixView::copy_band(const MatrixView& source, ptrdiff_t lowest, ptrdiff_t highest) const {
#ifndef __OPTIMIZE_SIZE__
  const auto size = static_cast<ptrdiff_t>(element_size(type));
  const bool is_same = data == source.data && row_step == source.row_step;
  const bool keeps_bits = type == source.type && conjugated == source.conjugated;
  bool is_copied = is_same && keeps_bits;
  if (!is_same && !(keeps_bits && has_rows() && source.has_rows())) {
    is_copied = with_types(*this, source, [&](auto a, auto b) {
      convert_band<decltype(a), decltype(b)>(*this, source, lowest, highest);
    });
  }
  for (ptrdiff_t i = 0; keeps_bits && !is_copied && i < rows; ++i) {
    const ptrdiff_t begin = std::min(std::max<ptrdiff_t>(i + lowest, 0), columns);
    const ptrdiff_t end = std::min(std::max<ptrdiff_t>(i + highest + 1, begin), columns);
    if (end == begin) continue;
    copy_elements(at(i, begin), column_step, source.at(i, begin), source.column_step,
                  static_cast<size_t>(end - begin), static_cast<size_t>(size));
  }
  if (is_copied || keeps_bits) return clear_around(*this, lowest, highest);
#endif
  for (ptrdiff_t i = 0; i < rows; ++i) {
    for (ptrdiff_t j = 0; j < columns; ++j) {
      set(i, j, j - i >= lowest && j - i <= highest ? source.get(i, j) : Number());
    }
  }
}

void MatrixView::set_identity() const {
#ifndef __OPTIMIZE_SIZE__
  clear_around(*this, 0, -1);
  for (ptrdiff_t i = 0; i < std::min(rows, columns); ++i) set(i, i, 1);
#else
  for (ptrdiff_t i = 0; i < rows; ++i) {
    for (ptrdiff_t j = 0; j < columns; ++j) set(i, j, i == j ? 1 : 0);
  }
#endif
}

char* element_of(const Tensor& tensor, size_t core_dims, const Shape& batch, size_t n) {
  char* at = tensor.mutable_data_ptr<char>();
  // Divides n into indices from the last batch dimension on; dimensions of size 1 repeat. The first dimension
  // needs no division.
  size_t own = tensor.sizes().size() - core_dims;
  for (size_t d = batch.dim; d-- > 0 && own > 0;) {
    const auto size = static_cast<size_t>(batch.sizes[d]);
    --own;
    const size_t rest = d > 0 ? n / size : 0;
    if (tensor.sizes()[own] != 1) at += static_cast<ptrdiff_t>(n - rest * size) * byte_stride(tensor, own);
    n = rest;
  }
  return at;
}

MatrixView matrix_of(const Tensor& tensor, const Shape& batch, size_t n) {
  const size_t rank = tensor.sizes().size();
  return {element_of(tensor, 2, batch, n), tensor.scalar_type(),          tensor.sizes()[rank - 2],
          tensor.sizes()[rank - 1],        byte_stride(tensor, rank - 2), byte_stride(tensor, rank - 1)};
}

MatrixView vector_of(const Tensor& tensor, const Shape& batch, size_t n) {
  const size_t rank = tensor.sizes().size();
  return {element_of(tensor, 1, batch, n), tensor.scalar_type(),         tensor.sizes()[rank - 1], 1,
          byte_stride(tensor, rank - 1),   byte_stride(tensor, rank - 1)};
}

MatrixView number_of(const Tensor& tensor, const Shape& batch, size_t n) {
  return {element_of(tensor, 0, batch, n), tensor.scalar_type(), 1, 1, 0, 0};
}

int32_t& int32_of(const Tensor& tensor, const Shape& batch, size_t n) {
  return *reinterpret_cast<int32_t*>(element_of(tensor, 0, batch, n));
}

size_t batch_size(const Shape& batch) {
  size_t count = 1;
  for (const SizesType size : batch.span()) count *= static_cast<size_t>(size);
  return count;
}

Error check_matrices(const Tensor& tensor, TypeSet types, const char* name) {
  if (!contains(types, tensor.scalar_type())) return unsupported_type(tensor.scalar_type());
  RL_CHECK(tensor.dim() >= 2, Error::InvalidArgument, "%s: expected 2 dimensions at least, got %d", name,
           static_cast<int>(tensor.dim()));
  return Error::Ok;
}

Error check_square(const Tensor& tensor, TypeSet types, const char* name) {
  RL_TRY(check_matrices(tensor, types, name));
  const ptrdiff_t rows = tensor.size(tensor.dim() - 2);
  const ptrdiff_t columns = tensor.size(tensor.dim() - 1);
  RL_CHECK(rows == columns, Error::InvalidArgument, "%s: expected square matrices, got %ld by %ld", name,
           static_cast<long>(rows), static_cast<long>(columns));
  return Error::Ok;
}

Error check_dtype(const Tensor& tensor, ScalarType type, const char* name) {
  RL_CHECK(tensor.scalar_type() == type, Error::InvalidType, "%s: expected dtype %s, got %s", name,
           to_string(type), to_string(tensor.scalar_type()));
  return Error::Ok;
}

Error resize_batched(const Tensor& out, const Shape& batch, std::initializer_list<ptrdiff_t> sizes) {
  Shape shape = batch;
  RL_CHECK(batch.dim + sizes.size() <= kTensorDimensionLimit, Error::InvalidArgument,
           "out: more than %d dimensions", static_cast<int>(kTensorDimensionLimit));
  for (const ptrdiff_t size : sizes) shape.push(size);
  return resize_out(out, shape.span());
}

Error copy_matrices(const Tensor& source, const Tensor& out) { return copy_to_out(View::of(source), out); }

Error allocate_matrix(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                      MatrixView* matrix) {
  // The memory lives until the kernel returns.
  const size_t bytes = static_cast<size_t>(rows) * static_cast<size_t>(columns) * element_size(type);
  *matrix = MatrixView::dense(context.allocate_temp(bytes), type, rows, columns);
  RL_CHECK(matrix->data != nullptr, Error::MemoryAllocationFailed, "out of scratch memory: need %lu bytes",
           static_cast<unsigned long>(bytes));
  return Error::Ok;
}

Error allocate_columns(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                       MatrixView* matrix) {
  RL_TRY(allocate_matrix(context, type, columns, rows, matrix));
  *matrix = matrix->transposed();
  return Error::Ok;
}

}  // namespace rushlight::kernels
