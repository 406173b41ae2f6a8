// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/spans.h, for tests.
#pragma once

#include "kernels/ukernel/spans.h"

namespace rushlight::ukernel::reference {

inline void fill_span(float* to, size_t count, float value) {
  for (size_t i = 0; i < count; ++i) to[i] = value;
}

inline void copy_span(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i];
}

inline void scale_span(float* to, const float* from, size_t count, float scale, float offset) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i] * scale + offset;
}

inline void rectify_span(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i] < 0 ? 0.0f : from[i];
}

inline void clamp_span(float* to, const float* from, size_t count, float low, float high) {
  for (size_t i = 0; i < count; ++i) {
    const float value = from[i] < low ? low : from[i];
    to[i] = value > high ? high : value;
  }
}

inline void add_span(float* to, const float* a, const float* b, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = a[i] + b[i];
}

}  // namespace rushlight::ukernel::reference
