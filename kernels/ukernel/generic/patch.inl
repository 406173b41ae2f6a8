// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution with scalars for any kernel, four sums of a row at a time; block copies; depthwise sums.
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
namespace {

// The channels of a group, for one output.
template <size_t kCount>
inline void add_group(const ChannelSums& sums, const float* in, const float* weight, const float* initial,
                      float* out) {
  float totals[kCount];
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) totals[i] = initial[i];
  for (size_t y = sums.rows; y > 0; --y, in += sums.row_stride, weight += sums.weight_row_stride) {
    const float* at = in;
    const float* factor = weight;
    for (size_t x = sums.columns; x > 0; --x, at += sums.column_stride, factor += kChannelGroup) {
#pragma GCC unroll 8
      for (size_t i = 0; i < kCount; ++i) totals[i] += factor[i] * at[i];
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) out[i] = totals[i];
}

}  // namespace

void add_channels(const ChannelSums& sums) {
  const float* in = sums.in;
  float* out = sums.out;
  for (size_t o = sums.outputs; o > 0; --o, in += sums.in_step, out += sums.out_step) {
    const float* weight = sums.weight;
    size_t c = 0;
    for (; c + kChannelGroup <= sums.channels; c += kChannelGroup, weight += sums.group_stride) {
      add_group<kChannelGroup>(sums, in + c, weight, sums.initial + c, out + c);
    }
    for (; c < sums.channels; ++c, ++weight) add_group<1>(sums, in + c, weight, sums.initial + c, out + c);
  }
}
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
