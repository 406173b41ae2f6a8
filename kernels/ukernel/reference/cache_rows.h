// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/cache_rows.h in double, for tests. Products of float32 with int8 or float16
// are exact in double, so that only the sums are rounded; results are rounded to float32 once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/cache_rows.h"

namespace rushlight::ukernel::reference {

// The value of a cache element. Float16 by its fields: sign, exponent and fraction, with subnormals as
// multiples of 2^-24.
inline double widened(int8_t number) { return number; }
inline double widened(uint16_t half) {
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  const int exponent = half >> 10 & 31;
  const double fraction = half & 1023;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * fraction * 0x1p-24;
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// out[i][j] = the product of row i with cache row j, by templates for both element types; the functions below
// have the names of the contract.
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

// Adds to out[i][p], which is read as the start of the sum.
template <class T>
void cache_sums(const CacheRows<T>& rows) {
  for (size_t i = 0; i < rows.rows; ++i) {
    for (size_t p = 0; p < rows.depth; ++p) {
      const float* left = rows.left + static_cast<ptrdiff_t>(i) * rows.left_stride;
      float* out = rows.out + static_cast<ptrdiff_t>(i) * rows.out_stride + p;
      double sum = *out;
      // Products in the order of the rows, as the contract requires of the variants.
      for (size_t j = 0; j < rows.count; ++j) sum += left[j] * widened(rows.cache[j * rows.depth + p]);
      *out = static_cast<float>(sum);
    }
  }
}
inline void cache_sums_half(const CacheRows<uint16_t>& rows) { cache_sums(rows); }
inline void cache_sums_i8(const CacheRows<int8_t>& rows) { cache_sums(rows); }

// Each result is rounded from double: no intermediate product is rounded to float32. rotate_pairs() is the
// same rotation with stride 2.
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
