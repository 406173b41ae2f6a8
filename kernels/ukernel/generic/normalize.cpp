// SPDX-License-Identifier: BSD-3-Clause
// Affine maps over tiles of vectors, bound by memory. The difference from the mean comes first, because x *
// rstd - mean * rstd would cancel where the mean is large.
#include "kernels/ukernel/normalize.h"

#include "kernels/ukernel/generic/blocks.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void normalize_span(size_t n, const float* x, float mean, float rstd, const float* weight, const float* bias,
                    float* y) {
  const F32 center = splat(mean);
  const F32 scale = splat(rstd);
  for_each_tile<1>(n, [&](const auto& tile, size_t i) {
    F32 value = (tile.read(x + i, 0) - center) * scale;
    if (weight != nullptr) value *= tile.read(weight + i, 0);
    if (bias != nullptr) value += tile.read(bias + i, 0);
    tile.write(y + i, 0, value);
  });
}

void scale_span(size_t n, const float* x, float scale, float shift, float* y) {
  const F32 factor = splat(scale);
  const F32 summand = splat(shift);
  for_each_tile(n, [&](const auto& tile, size_t j) {
    for (size_t v = 0; v < tile.kVectors; ++v) {
      tile.write(y + j, v, multiply_add(tile.read(x + j, v), factor, summand));
    }
  });
}

void scale_rows(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x,
                const float* scale, const float* shift, float* y) {
  for (size_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    for_each_tile(n, [&](const auto& tile, size_t j) {
      for (size_t v = 0; v < tile.kVectors; ++v) {
        const F32 value = multiply_add(tile.read(x + j, v), tile.read(scale + j, v), tile.read(shift + j, v));
        tile.write(y + j, v, value);
      }
    });
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
