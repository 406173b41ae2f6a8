// SPDX-License-Identifier: BSD-3-Clause
// Of scalars, any kernel: four sums of a row at a time. And copies.
#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

template <size_t kColumns>
inline void convolve_some(const PatchConvolution& convolution, const float* patch, float* out) {
  float sums[kColumns];
#pragma GCC unroll 4
  for (size_t c = 0; c < kColumns; ++c) sums[c] = convolution.initial;
  const ptrdiff_t step = convolution.column_step;
  const float* kernel = convolution.kernel;
  for (size_t i = 0; i < convolution.kernel_rows; ++i) {
    const float* row = patch;
    const float* factor = kernel;
    for (size_t j = 0; j < convolution.kernel_columns; ++j) {
      const float number = *factor;
#pragma GCC unroll 4
      for (size_t c = 0; c < kColumns; ++c) sums[c] += number * row[static_cast<ptrdiff_t>(c) * step];
      row += convolution.column_dilation;
      factor += convolution.kernel_column_stride;
    }
    patch += convolution.patch_stride * convolution.row_dilation;
    kernel += convolution.kernel_row_stride;
  }
#pragma GCC unroll 4
  for (size_t c = 0; c < kColumns; ++c) out[static_cast<ptrdiff_t>(c) * convolution.column_stride] = sums[c];
}

}  // namespace

void convolve_patch(const PatchConvolution& convolution) {
  const float* patch = convolution.patch;
  float* out = convolution.out;
  for (size_t y = 0; y < convolution.rows; ++y) {
    const float* from = patch;
    float* to = out;
    size_t left = convolution.columns;
    for (; left >= 4; left -= 4) {
      convolve_some<4>(convolution, from, to);
      from += 4 * convolution.column_step;
      to += 4 * convolution.column_stride;
    }
    for (; left > 0; --left, from += convolution.column_step, to += convolution.column_stride) {
      convolve_some<1>(convolution, from, to);
    }
    patch += convolution.row_step * convolution.patch_stride;
    out += convolution.out_stride;
  }
}

void copy_block(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride,
                ptrdiff_t column_stride, size_t rows, size_t columns) {
  for (; rows > 0; --rows, to += to_stride, from += from_stride) {
    const float* at = from;
    for (size_t i = 0; i < columns; ++i, at += column_stride) to[i] = *at;
  }
}

#ifndef RL_OWN_CHANNELS
void add_channels(const ChannelSums& sums) {
  size_t c = 0;
  for (; c + 8 <= sums.channels; c += 8) {
    float totals[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) totals[i] = sums.out[c + i];
    for (size_t t = 0; t < sums.taps; ++t) {
      const float* in = sums.in[t] + c;
      const float* weight = sums.weight[t] + c;
#pragma GCC unroll 8
      for (size_t i = 0; i < 8; ++i) totals[i] += weight[i] * in[i];
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) sums.out[c + i] = totals[i];
  }
  for (; c < sums.channels; ++c) {
    float total = sums.out[c];
    for (size_t t = 0; t < sums.taps; ++t) total += sums.weight[t][c] * sums.in[t][c];
    sums.out[c] = total;
  }
}
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
