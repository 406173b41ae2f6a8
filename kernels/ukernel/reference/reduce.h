// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/reduce.h in double, for tests. Columns are spans with a stride: a test calls
// the functions once for each column. Tests allow 1e-6 of the sum of magnitudes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::ukernel::reference {

// Element j of row `row`, for rows that are `stride` floats apart.
inline const float* element(const float* x, size_t row, ptrdiff_t stride, size_t j) {
  return x + static_cast<ptrdiff_t>(row) * stride + static_cast<ptrdiff_t>(j);
}

// The sum of a column, or of a span with stride 1; 0 for no rows.
inline double sum(size_t rows, ptrdiff_t stride, const float* x) {
  double sum = 0;
  for (size_t row = 0; row < rows; ++row) sum += static_cast<double>(*element(x, row, stride, 0));
  return sum;
}

// The float sum in the order of variants with vectors, bit-exact. Written from the contract with scalars, one
// partial sum after the other: 32 partial sums, blocks of 64 additions, groups of 64 blocks, then pairs.
// Compiled without reassociation, it gives the bits of every vector width.
inline float blocked_sum(size_t n, const float* x) {
  float sums[32];
  for (size_t first = 0; first < 32; ++first) {
    float total = 0;
    float blocks = 0;
    float block = 0;
    // count: additions to this partial sum so far. A multiple of 64 ends a block, of 64 * 64 a group of
    // blocks.
    for (size_t i = first, count = 1; i < n; i += 32, ++count) {
      block += x[i];
      if (count % 64 != 0) continue;
      blocks += block;
      block = 0;
      if (count % (64 * 64) != 0) continue;
      total += blocks;
      blocks = 0;
    }
    sums[first] = total + (blocks + block);
  }
  // Pairs at a distance of 16, then 8, and so on: vectors do this register by register, then lane by lane.
  for (size_t half = 16; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

// The sum of (x - mean)^2; the difference is exact in double or rounded far below float32.
inline double squares(size_t rows, ptrdiff_t stride, const float* x, float mean) {
  double sum = 0;
  for (size_t row = 0; row < rows; ++row) {
    const double apart = static_cast<double>(*element(x, row, stride, 0)) - static_cast<double>(mean);
    sum += apart * apart;
  }
  return sum;
}

// The row of the largest or smallest element, as argmax_rows and argmin_rows define it: the first of equal
// elements, or the first NaN. rows > 0.
inline size_t best(bool largest, size_t rows, ptrdiff_t stride, const float* x) {
  size_t found = 0;
  for (size_t row = 1; row < rows; ++row) {
    const float value = *element(x, row, stride, 0);
    const float before = *element(x, found, stride, 0);
    const bool beats = largest ? value > before : value < before;
    if (beats || (value != value && before == before)) found = row;
  }
  return found;
}

}  // namespace rushlight::ukernel::reference
