// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution of one channel with one kernel for cores with little memory: from a zero-padded patch of
// the image to a part of the output plane. Float32; strides are in elements. Also the copies that make a
// patch, and depthwise sums of channels-last images.
//
// Memory: accesses only the described elements; alignment of float; results overlap no operand. All sums are
// float32, one product after the other, with fused multiply-adds where the processor has them.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct PatchConvolution {
  const float* patch;  // rows are patch_stride apart, the elements of a row contiguous
  ptrdiff_t patch_stride;
  const float* kernel;  // kernel_rows x kernel_columns
  ptrdiff_t kernel_row_stride;
  ptrdiff_t kernel_column_stride;
  size_t kernel_rows;
  size_t kernel_columns;
  ptrdiff_t row_step;     // patch rows from one output row to the next (stride)
  ptrdiff_t column_step;  // patch columns from one output column to the next
  ptrdiff_t row_dilation;
  ptrdiff_t column_dilation;
  float* out;  // rows x columns
  ptrdiff_t out_stride;
  ptrdiff_t column_stride;
  size_t rows;
  size_t columns;
  float initial;  // start of each sum: the bias
};

// out[y][x] = initial + sum over i, j of kernel[i][j] * in, added in the order of i, then j, with
//
//   in = patch[y * row_step + i * row_dilation][x * column_step + j * column_dilation]
RL_UKERNEL_NATIVE(void, convolve_patch, (const PatchConvolution& convolution), (convolution))

// The same for a whole plane with a 3 x 3 kernel, stride 1 and an implicit zero padding of 1 on all sides.
// The output has the input's shape. The elements of a row are contiguous. A few columns are computed at a
// time, top to bottom: each input row is read once for them and contributes to three rows of sums, which stay
// in registers.
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

// to[i * to_stride + j] = from[i * from_stride + j * column_stride], for i < rows, j < columns.
RL_UKERNEL_NATIVE(void, copy_block,
                  (float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride,
                   ptrdiff_t column_stride, size_t rows, size_t columns),
                  (to, to_stride, from, from_stride, column_stride, rows, columns))

// Channels whose weights are stored together, so that the weights of a tap are one load of several registers,
// or one vector.
inline constexpr size_t kChannelGroup = native::kChannelGroup;

// Depthwise: out[o][c] = initial[c] + sum over i < rows, j < columns of weight[i][j][c] * in[o][i][j][c], c <
// channels. Channels are contiguous in `in`, `initial` and `out`. Weights are [groups][taps][kChannelGroup];
// the last group may be padded. `rectify` applies ReLU; NaN passes.
//
//   in of output o at tap (i, j)      in + o * in_step + i * row_stride + j * column_stride
//   weight of group g at tap (i, j)   weight + g * group_stride + i * weight_row_stride + j * kChannelGroup
//
// The caller omits taps outside of the image by its choice of rows, columns and pointers.
struct ChannelSums {
  const float* in;       // input of output 0 at tap 0
  ptrdiff_t row_stride;  // from tap to tap
  ptrdiff_t column_stride;
  ptrdiff_t in_step;    // from output to output
  const float* weight;  // group 0 at tap 0
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
