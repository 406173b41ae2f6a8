// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/cache_rows.h in double, for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/cache_rows.h"

namespace rushlight::ukernel::reference {

inline double widened(int8_t number) { return number; }
inline double widened(uint16_t half) {
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  const int exponent = half >> 10 & 31;
  const double fraction = half & 1023;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * fraction * 0x1p-24;
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

template <class T>
void cache_products(const CacheRows<T>& rows) {
  for (size_t i = 0; i < rows.rows; ++i) {
    for (size_t j = 0; j < rows.count; ++j) {
      const float* left = rows.left + static_cast<ptrdiff_t>(i) * rows.left_stride;
      double sum = 0;
      for (size_t p = 0; p < rows.depth; ++p) sum += left[p] * widened(rows.cache[j * rows.depth + p]);
      rows.out[static_cast<ptrdiff_t>(i) * rows.out_stride + static_cast<ptrdiff_t>(j)] =
          static_cast<float>(sum);
    }
  }
}
inline void cache_products_half(const CacheRows<uint16_t>& rows) { cache_products(rows); }
inline void cache_products_i8(const CacheRows<int8_t>& rows) { cache_products(rows); }

template <class T>
void cache_sums(const CacheRows<T>& rows) {
  for (size_t i = 0; i < rows.rows; ++i) {
    for (size_t p = 0; p < rows.depth; ++p) {
      const float* left = rows.left + static_cast<ptrdiff_t>(i) * rows.left_stride;
      float* out = rows.out + static_cast<ptrdiff_t>(i) * rows.out_stride + p;
      double sum = *out;
      for (size_t j = 0; j < rows.count; ++j) sum += left[j] * widened(rows.cache[j * rows.depth + p]);
      *out = static_cast<float>(sum);
    }
  }
}
inline void cache_sums_half(const CacheRows<uint16_t>& rows) { cache_sums(rows); }
inline void cache_sums_i8(const CacheRows<int8_t>& rows) { cache_sums(rows); }

inline void rotate_halves(size_t n, float* first, float* second, const float* cos, const float* sin) {
  for (size_t i = 0; i < n; ++i) {
    const double a = first[i], b = second[i];
    first[i] = static_cast<float>(a * cos[i] - b * sin[i]);
    second[i] = static_cast<float>(b * cos[i] + a * sin[i]);
  }
}

inline void rotate_pairs(size_t n, float* row, const float* cos, const float* sin) {
  for (size_t i = 0; i < n; ++i) rotate_halves(1, row + 2 * i, row + 2 * i + 1, cos + i, sin + i);
}

}  // namespace rushlight::ukernel::reference
