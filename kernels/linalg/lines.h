// SPDX-License-Identifier: BSD-3-Clause
// Rows and columns of matrices in memory, for the loops of builds for speed: types of elements, and vectors
// of four doubles, which hold two complex numbers.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/linalg/matrix.h"
#include "kernels/ukernel/loops.h"

namespace rushlight::kernels {

// The type of a line's elements in memory: one component of type T, or two.
template <class T, int kComponents>
struct Stored {
  using Part = T;
  static constexpr int kParts = kComponents;
  static constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T)) * kComponents;
};

// Elements of a row or column, `step` bytes apart; `sign` is -1 if memory holds the conjugates.
struct Line {
  char* data;
  ptrdiff_t step;
  double sign;

  template <class T>
  [[nodiscard]] T* at(ptrdiff_t i) const {
    return reinterpret_cast<T*>(data + i * step);
  }
};
inline Line row_of(const MatrixView& a, ptrdiff_t i, ptrdiff_t j) {
  return {a.at(i, j), a.column_step, a.conjugated ? -1.0 : 1.0};
}
inline Line column_of(const MatrixView& a, ptrdiff_t i, ptrdiff_t j) {
  return {a.at(i, j), a.row_step, a.conjugated ? -1.0 : 1.0};
}

// Calls f(Stored<>{}, Stored<>{}) with the types of two matrices; false if only one is complex.
template <int kParts, class F>
void with_parts(const MatrixView& a, const MatrixView& b, F f) {
  const bool wide_a = component_type(a.type) == ScalarType::Double;
  const bool wide_b = component_type(b.type) == ScalarType::Double;
  if (wide_a && wide_b) return f(Stored<double, kParts>{}, Stored<double, kParts>{});
  if (wide_a) return f(Stored<double, kParts>{}, Stored<float, kParts>{});
  if (wide_b) return f(Stored<float, kParts>{}, Stored<double, kParts>{});
  f(Stored<float, kParts>{}, Stored<float, kParts>{});
}
template <class F>
bool with_types(const MatrixView& a, const MatrixView& b, F f) {
  if (is_complex(a.type) != is_complex(b.type) || !ukernel::runs_loops()) return false;
  if constexpr (kSelectsComplex) {
    if (is_complex(a.type)) {
      with_parts<2>(a, b, f);
      return true;
    }
  }
  with_parts<1>(a, b, f);
  return true;
}

// Four parts of elements, in arithmetic. Passed by reference: how a vector is passed by value depends on the
// instruction set.
constexpr int kLanes = 4;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

template <class T>
[[gnu::always_inline]] inline void load_lanes(const T* from, Lanes* to) {
  using Parts __attribute__((vector_size(kLanes * sizeof(T)))) = T;
  Parts parts;
  std::memcpy(&parts, from, sizeof(parts));
  *to = __builtin_convertvector(parts, Lanes);
}
template <class T>
[[gnu::always_inline]] inline void store_lanes(const Lanes& from, T* to) {
  using Parts __attribute__((vector_size(kLanes * sizeof(T)))) = T;
  const Parts parts = __builtin_convertvector(from, Parts);
  std::memcpy(to, &parts, sizeof(parts));
}
// Exchanges the real and imaginary parts of two complex numbers.
[[gnu::always_inline]] inline void swap_parts(const Lanes& from, Lanes* to) {
  *to = __builtin_shufflevector(from, from, 1, 0, 3, 2);
}

// Adds a(r, k) * b(k, c) for k < n to sums of kRows rows and kVectors vectors of parts of contiguous rows of
// b; `by_real` has the products of the real parts of a, `by_imag` the products of its imaginary parts. The
// sums stay in registers, and rows share the loads of b.
template <int kRows, int kVectors, class A, class B>
[[gnu::always_inline]] inline void add_tile(const char* a, ptrdiff_t row_step, ptrdiff_t step, const char* b,
                                            ptrdiff_t b_step, ptrdiff_t n, Lanes (*by_real)[kVectors],
                                            Lanes (*by_imag)[kVectors]) {
  for (ptrdiff_t k = 0; k < n; ++k, a += step, b += b_step) {
    Lanes y[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      load_lanes(reinterpret_cast<const typename B::Part*>(b) + v * kLanes, &y[v]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto* const x = reinterpret_cast<const typename A::Part*>(a + r * row_step);
      const double real = x[0];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) by_real[r][v] += real * y[v];
      if constexpr (A::kParts == 2) {
        const double imag = x[1];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) by_imag[r][v] += imag * y[v];
      }
    }
  }
}

}  // namespace rushlight::kernels
