// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution of padded patches of the image: for few output channels, for kernels that are stored in
// any order, and in one to three dimensions. Every input is copied once for many taps, and the loops have no
// border tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/geometry/convolution_geometry.h"
#include "kernels/ukernel/patch.h"

namespace rushlight::kernels::board {

// The first elements of a group of one element of the batch: input, weight, bias (null: zeros) and output. T
// is float, or uint16_t for the bits of float16.
template <class T>
struct ConvolutionData {
  const T* in;
  const T* weight;
  const T* bias;
  T* out;
};

// The same of another group, counted from the one of `data`.
template <class T>
ConvolutionData<T> group_of(const ConvolutionGeometry& geometry, const ConvolutionData<T>& data,
                            ptrdiff_t group) {
  const ptrdiff_t first = group * geometry.out_channels;
  return {data.in + group * geometry.in_channels * geometry.in_channel_stride,
          data.weight + group * geometry.weight_group_stride,
          data.bias == nullptr ? nullptr : data.bias + first, data.out + first * geometry.out_channel_stride};
}

// Calls f(data) for each group of each element of the batch.
template <class T, class F>
void for_each_group(const ConvolutionGeometry& geometry, const ConvolutionData<T>& data, F f) {
  for (ptrdiff_t n = 0; n < geometry.batch; ++n) {
    ConvolutionData<T> image = data;
    image.in += n * geometry.in_batch_stride;
    image.out += n * geometry.out_batch_stride;
    for (ptrdiff_t group = 0; group < geometry.groups; ++group) f(group_of(geometry, image, group));
  }
}

// How patches divide a convolution that is not transposed. Computed once for all groups.
class PatchPlan {
 public:
  static constexpr ptrdiff_t kPatch = 576;  // floats of a patch: 2.3 KiB of stack
  static constexpr ptrdiff_t kSums = 512;   // sums of a block of outputs
  static constexpr ptrdiff_t kTaps = 128;   // taps of all channels of a patch

  // Precondition: at least one tap and one input channel.
  constexpr explicit PatchPlan(const ConvolutionGeometry& geometry) {
    const ConvolutionAxis& y = geometry.axes[1];
    const ConvolutionAxis& x = geometry.axes[2];
    const ptrdiff_t taps = geometry.taps(), depth = geometry.axes[0].kernel;
    if (taps > kTaps || span(y) > kPatch || span(x) > kPatch) return;
    row_residues = std::min(y.step, span(y));
    column_residues = std::min(x.step, span(x));
    channels = std::min(geometry.in_channels, kTaps / taps);
    rows = y.out;
    ptrdiff_t most = x.out;
    // Halves the block until it fits: its rows while there are enough sums for long loops, then channels.
    while (!divide(y, x, depth, most)) {
      const bool is_long = (rows - 1) * width + most > kLong;
      if (rows > 1 && (is_long || channels == 1)) {
        rows = (rows + 1) / 2;
      } else if (channels > 1) {
        channels = (channels + 1) / 2;
      } else if (most > 1) {
        most = (most + 1) / 2;
      } else {
        return;
      }
    }
    columns = most;
    // Further groups join the patch if it has all channels of one.
    groups = channels < geometry.in_channels
                 ? 1
                 : std::min(kPatch / (channels * depth * plane()), geometry.groups);
  }

  // False if the buffers on the stack are too small for the patch of one output.
  [[nodiscard]] constexpr bool fits() const { return columns > 0; }

  ptrdiff_t rows = 0;  // outputs of one patch
  ptrdiff_t columns = 0;
  ptrdiff_t channels = 0;  // input channels of one patch, in each of its groups
  ptrdiff_t groups = 0;
  // A patch has the planes [channel][depth], and of each the elements [residue of the row][residue of the
  // column][row][column]: positions that are equal modulo the stride are adjacent, so that all outputs read
  // adjacent elements through a tap.
  ptrdiff_t row_residues = 0;
  ptrdiff_t column_residues = 0;
  ptrdiff_t height = 0;
  ptrdiff_t width = 0;

  [[nodiscard]] constexpr ptrdiff_t plane() const { return row_residues * column_residues * height * width; }
  // Sums of one output channel, useless ones between rows included.
  [[nodiscard]] constexpr ptrdiff_t positions() const { return rounded_up((rows - 1) * width + columns); }

 private:
  static constexpr ptrdiff_t kLong = 48;  // sums of a block that outweigh the cost of another one

  static constexpr ptrdiff_t rounded_up(ptrdiff_t count) {
    constexpr auto kBlock = static_cast<ptrdiff_t>(ukernel::kShiftColumns);
    return (count + kBlock - 1) / kBlock * kBlock;
  }
  // Positions between the first and the last tap of an output.
  static constexpr ptrdiff_t span(const ConvolutionAxis& axis) {
    return (axis.kernel - 1) * axis.dilation + 1;
  }
  // Positions of each residue that `outputs` see.
  static constexpr ptrdiff_t extent(const ConvolutionAxis& axis, ptrdiff_t outputs) {
    return ((outputs - 1) * axis.step + span(axis) - 1) / axis.step + 1;
  }
  // Computes height and width for blocks of rows x most outputs. True if they fit.
  constexpr bool divide(const ConvolutionAxis& y, const ConvolutionAxis& x, ptrdiff_t depth, ptrdiff_t most) {
    height = extent(y, rows);
    width = extent(x, most);
    return channels * depth * plane() <= kPatch && rounded_up((rows - 1) * width + most) <= kSums;
  }
};

// Convolves all groups of all elements of the batch. Precondition: the geometry's plan fits. Sums are
// float32.
void convolve_patches(const ConvolutionGeometry& geometry, const PatchPlan& plan,
                      const ConvolutionData<float>& data);
void convolve_patches(const ConvolutionGeometry& geometry, const PatchPlan& plan,
                      const ConvolutionData<uint16_t>& data);

}  // namespace rushlight::kernels::board
