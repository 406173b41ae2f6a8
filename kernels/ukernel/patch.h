// SPDX-License-Identifier: BSD-3-Clause
// A convolution of one channel with one kernel, for cores with little memory: from a patch of the image, with
// its padding as zeros, to a part of the plane that comes out.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct PatchConvolution {
  const float* patch;  // rows are patch_stride apart, their numbers adjacent
  ptrdiff_t patch_stride;
  const float* kernel;  // kernel_rows x kernel_columns
  ptrdiff_t kernel_row_stride;
  ptrdiff_t kernel_column_stride;
  size_t kernel_rows;
  size_t kernel_columns;
  ptrdiff_t row_step;     // rows of the patch from one row that comes out to the next
  ptrdiff_t column_step;  // and columns
  ptrdiff_t row_dilation;
  ptrdiff_t column_dilation;
  float* out;  // rows x columns
  ptrdiff_t out_stride;
  ptrdiff_t column_stride;
  size_t rows;
  size_t columns;
  float initial;  // of each sum
};

// out[y][x] = initial + sum over i, j of kernel[i][j] * patch[y * row_step + i * row_dilation][x *
// column_step
// + j * column_dilation], in that order. Nothing else of the patch is read, nothing else written.
RL_UKERNEL_NATIVE(void, convolve_patch, (const PatchConvolution& convolution), (convolution))

// The same of a whole plane, padded by one on all sides, with a kernel of 3 x 3 and steps of one: as many
// rows and columns come out as there are. Numbers of a row are adjacent.
struct PlaneConvolution {
  const float* in;
  ptrdiff_t in_stride;
  const float* kernel;
  ptrdiff_t kernel_row_stride;
  ptrdiff_t kernel_column_stride;
  float* out;
  ptrdiff_t out_stride;
  size_t rows;  // at least 1
  size_t columns;
  float initial;
};
RL_UKERNEL_NATIVE(void, convolve_plane_3x3, (const PlaneConvolution& convolution), (convolution))

// to[i * to_stride + j] = from[i * from_stride + j * column_stride], i < rows, j < columns.
RL_UKERNEL_NATIVE(void, copy_block,
                  (float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride,
                   ptrdiff_t column_stride, size_t rows, size_t columns),
                  (to, to_stride, from, from_stride, column_stride, rows, columns))

// Weights of so many channels are together.
inline constexpr size_t kChannelGroup = native::kChannelGroup;

// out[o][c] = initial[c] + sum over i < rows, j < columns of weight[i][j][c] * in[o][i][j][c], c < channels.
// Channels are adjacent in `in`, `initial` and `out`; weights are [groups][taps][kChannelGroup], of which the
// last group may have more than there are channels. With `rectify` a sum below zero becomes zero, and NaN
// stays.
struct ChannelSums {
  const float* in;       // what the first output sees through the first tap
  ptrdiff_t row_stride;  // from tap to tap
  ptrdiff_t column_stride;
  ptrdiff_t in_step;    // from output to output
  const float* weight;  // of the first group and tap
  ptrdiff_t weight_row_stride;
  ptrdiff_t group_stride;
  size_t rows;  // any number
  size_t columns;
  const float* initial;
  float* out;
  ptrdiff_t out_step;
  size_t outputs;
  size_t channels;
  bool rectify;  // only if kPanelRectifies
};
RL_UKERNEL_NATIVE(void, add_channels, (const ChannelSums& sums), (sums))

}  // namespace rushlight::ukernel
