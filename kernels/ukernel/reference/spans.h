// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/spans.h, for tests, which compare by equality. On 32-bit Arm, whose vectors
// flush subnormals, these count as equal to 0. scale_span() is tested with products that are exact.
#pragma once

#include "kernels/ukernel/spans.h"

namespace rushlight::ukernel::reference {

inline void fill_span(float* to, size_t count, float value) {
  for (size_t i = 0; i < count; ++i) to[i] = value;
}

inline void copy_span(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i];
}

// May be fused or not: with a scale of 2 both give the same.
inline void scale_span(float* to, const float* from, size_t count, float scale, float offset) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i] * scale + offset;
}

// Keeps -0 and NaN.
inline void rectify_span(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i] < 0 ? 0.0f : from[i];
}

// low first, so that a low above high gives high. NaN passes.
inline void clamp_span(float* to, const float* from, size_t count, float low, float high) {
  for (size_t i = 0; i < count; ++i) {
    const float value = from[i] < low ? low : from[i];
    to[i] = value > high ? high : value;
  }
}

inline void add_span(float* to, const float* a, const float* b, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = a[i] + b[i];
}

inline float sum_span(const float* from, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += from[i];
  return static_cast<float>(sum);
}

inline void add_rows(float* sums, const float* row, ptrdiff_t stride, size_t rows, size_t columns) {
  for (; rows > 0; --rows, row += stride) {
    for (size_t j = 0; j < columns; ++j) sums[j] += row[j];
  }
}

}  // namespace rushlight::ukernel::reference
