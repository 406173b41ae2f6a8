// SPDX-License-Identifier: BSD-3-Clause
// Sizes and strides of a convolution, for backs that compute addresses. Strides are in elements of their
// tensor. For output o and tap k the input position along one axis is
//
//   o * step - pad + k * dilation               if it is in [0, in)
//   (o + pad - k * dilation) / step             transposed: if the division leaves no rest
#pragma once

#include <cstddef>

#include "kernels/geometry/convolution_shape.h"

namespace rushlight::kernels {

// input_at(axis, first_position(axis, o), k) is the input position that output o sees through tap k, or
// negative (or -1) if that is padding. Split in two, because first_position() is the same for all taps.
[[nodiscard]] inline ptrdiff_t first_position(const ConvolutionAxis& axis, ptrdiff_t output,
                                              bool transposed) {
  return transposed ? output + axis.pad : output * axis.step - axis.pad;
}
// Input position for position `at` of an input spread by the step (transposed convolution), or -1 for the
// gaps.
[[nodiscard]] inline ptrdiff_t upsampled_at(const ConvolutionAxis& axis, ptrdiff_t at) {
  if (axis.step > 1) {
    if (at < 0 || at % axis.step != 0) return -1;
    at /= axis.step;
  }
  return at < axis.in ? at : -1;
}
[[nodiscard]] inline ptrdiff_t input_at(const ConvolutionAxis& axis, ptrdiff_t start, ptrdiff_t k,
                                        bool transposed) {
  if (transposed) return upsampled_at(axis, start - k * axis.dilation);
  const ptrdiff_t at = start + k * axis.dilation;
  return at < axis.in ? at : -1;
}

// All offsets that a convolution needs: element (n, c, z, y, x) is at the sum of index * stride. For a
// weight, (output channel, input channel, taps) within a group; transposed weights have the two channels
// exchanged, which the strides hide.
struct ConvolutionGeometry {
  bool transposed;
  // Sizes; channels are counted in one group.
  ptrdiff_t batch;
  ptrdiff_t groups;
  ptrdiff_t in_channels;   // in one group
  ptrdiff_t out_channels;  // in one group
  // Strides of input, output and weight. A group advances the input by in_channels channels, the output by
  // out_channels, and the weight by weight_group_stride.
  ptrdiff_t in_batch_stride;
  ptrdiff_t out_batch_stride;
  ptrdiff_t in_channel_stride;
  ptrdiff_t out_channel_stride;
  ptrdiff_t weight_in_stride;
  ptrdiff_t weight_out_stride;
  ptrdiff_t weight_group_stride;
  ConvolutionAxis axes[kSpatial];  // the last one is the row

  // Taps of one window.
  [[nodiscard]] ptrdiff_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

// Computes the geometry. Merges pointwise axes into the last one if the layouts allow it, for long rows: the
// result of a 1x1 convolution is then one row of all pixels. Precondition: convolution_shape() has checked
// the tensors, and `out` has the result's shape.
ConvolutionGeometry convolution_geometry(const Tensor& input, const Tensor& weight,
                                         const ConvolutionArguments& arguments, const Tensor& out);

}  // namespace rushlight::kernels
