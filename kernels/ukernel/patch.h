// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution for cores with little memory: from a zero-padded patch of the image to a part of the
// output planes. Float32; strides are in elements. Also the copies that make a patch, and depthwise sums of
// channels-last images.
//
// Memory: accesses only the described elements; alignment of float; results overlap no operand. All sums are
// float32, one product after the other, with fused multiply-adds where the processor has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Columns that are computed together. Callers pad their arrays to a multiple.
inline constexpr size_t kShiftColumns = native::kShiftColumns;

// The most products of a sum for which shifts take fewer instructions than a panel, whose tiles of sums are
// larger.
inline constexpr size_t kShiftDepth = native::kShiftDepth;
// The most taps of a group.
inline constexpr size_t kShiftTaps = native::kShiftTaps;

// A group of taps with adjacent elements of the array, so that neighbouring columns share their loads. `in`
// is the offset of the first one in bytes, as addresses are; `more` are the taps after it, below kShiftTaps.
struct ShiftedTaps {
  int32_t in;
  int32_t more;
};

// Sums of products with shifted copies of one array. A convolution of a padded patch is such a sum: a tap is
// a shift, whatever its channel, row and column are, and rows of outputs follow each other as rows of the
// patch do.
struct ShiftedSums {
  const float* in;
  const float* weight;  // of the first row: contiguous, in the order of the taps
  ptrdiff_t weight_stride;
  const ShiftedTaps* taps;
  size_t count;          // of groups, any number
  const float* initial;  // start of each row's sums; null: the sums start from `out`
  float* out;            // rows x columns, contiguous along the columns
  ptrdiff_t out_stride;
  size_t rows;                   // output channels, any number
  size_t columns;                // a multiple of kShiftColumns
  bool has_single_taps = false;  // true only if all groups have one tap: may be faster
};

// out[i][j] = start + sum over taps t of weight[i][t] * in[j + shift of t], in the order of the taps.
RL_UKERNEL_NATIVE(void, add_shifted, (const ShiftedSums& sums), (sums))

// Convolution of a whole plane with a 3 x 3 kernel, stride 1 and an implicit zero padding of 1 on all sides.
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

// Columns of a tile of add_planes(). A tile lists the offsets of kTilePositions columns: all, or only the
// first one. 0 columns: the function is slower than add_shifted(). kTileSteps is the largest distance of the
// inputs of adjacent columns.
inline constexpr size_t kTileColumns = native::kTileColumns;
inline constexpr size_t kTilePositions = native::kTilePositions;
inline constexpr ptrdiff_t kTileSteps = kTilePositions > 1 ? PTRDIFF_MAX : 2;

// The outputs of a tile and what their first taps see, as offsets in bytes from the first elements of the
// plane and its output.
struct PlaneTile {
  int32_t in[kTilePositions];
  int32_t out[kTilePositions];
};

// A tap as its offset alone, if tiles list all their columns, or a group of taps.
using PlaneTap = std::conditional_t<(kTilePositions > 1), int32_t, ShiftedTaps>;

// Depthwise convolution of padded planes, whose sums stay in registers: for each plane and each output of its
// tiles, out = initial + sum over taps t of weight[t] * in[shift of t], in the order of the taps. Strides are
// in elements.
struct PlaneSums {
  const float* in;
  ptrdiff_t in_plane;
  const float* weight;  // of the first plane: contiguous, in the order of the taps
  ptrdiff_t weight_plane;
  const PlaneTap* taps;
  size_t count;          // of `taps`, any number
  const float* initial;  // null: zeros
  ptrdiff_t initial_plane;
  float* out;
  ptrdiff_t out_plane;
  size_t planes;
  // Outputs may be in several tiles. If kTilePositions is 1, the first counts[0] tiles have kTileColumns
  // columns, the next counts[1] half as many, and the last counts[2] one; columns are in_step and out_step
  // elements apart. Else counts[0] tiles list all columns.
  const PlaneTile* tiles;
  size_t counts[3];
  ptrdiff_t in_step;  // 1 to kTileSteps
  ptrdiff_t out_step;
};
RL_UKERNEL_NATIVE(void, add_planes, (const PlaneSums& sums), (sums))

// Strides of a block: from row to row, and from column to column.
struct BlockStrides {
  ptrdiff_t row;
  ptrdiff_t column;
};

// to[i][j] = from[i][j] for i < rows, j < columns.
RL_UKERNEL_NATIVE(void, copy_block,
                  (float* to, BlockStrides to_strides, const float* from, BlockStrides from_strides,
                   size_t rows, size_t columns),
                  (to, to_strides, from, from_strides, rows, columns))

// The same from float16 to float32, exact, and from float32 to float16, rounded to nearest, halves to even.
// Float16 are passed as bits. NaN stays NaN.
RL_UKERNEL_NATIVE(void, widen_block,
                  (float* to, BlockStrides to_strides, const uint16_t* from, BlockStrides from_strides,
                   size_t rows, size_t columns),
                  (to, to_strides, from, from_strides, rows, columns))
RL_UKERNEL_NATIVE(void, narrow_block,
                  (uint16_t* to, BlockStrides to_strides, const float* from, BlockStrides from_strides,
                   size_t rows, size_t columns),
                  (to, to_strides, from, from_strides, rows, columns))

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
