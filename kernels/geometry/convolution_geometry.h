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
[[nodiscard]] constexpr ptrdiff_t first_position(const ConvolutionAxis& axis, ptrdiff_t output,
                                                 bool transposed) {
  return transposed ? output + axis.pad : output * axis.step - axis.pad;
}
// Input position for position `at` of an input spread by the step (transposed convolution), or -1 for the
// gaps.
[[nodiscard]] constexpr ptrdiff_t upsampled_at(const ConvolutionAxis& axis, ptrdiff_t at) {
  if (axis.step > 1) {
    if (at < 0 || at % axis.step != 0) return -1;
    at /= axis.step;
  }
  return at < axis.in ? at : -1;
}
[[nodiscard]] constexpr ptrdiff_t input_at(const ConvolutionAxis& axis, ptrdiff_t start, ptrdiff_t k,
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
  [[nodiscard]] constexpr ptrdiff_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

// True if the convolution has at most two spatial dimensions.
[[nodiscard]] constexpr bool is_flat(const ConvolutionGeometry& geometry) {
  return geometry.axes[0].kernel == 1 && geometry.axes[0].in == 1 && geometry.axes[0].out == 1;
}

// Merges pointwise axes into the row while they adjoin it in both tensors: the result of a 1x1 convolution is
// one long row of all pixels.
constexpr void lengthen_row(ConvolutionAxis* axes) {
  ConvolutionAxis& row = axes[kSpatial - 1];
  for (size_t i = kSpatial - 1; i-- > 0;) {
    ConvolutionAxis& outer = axes[i];
    if (!is_pointwise(outer)) return;
    // The end of a row is followed by the next row, in input and output. An axis of size 1 is absorbed,
    // whatever its strides.
    const bool adjoins =
        outer.in_stride == row.in * row.in_stride && outer.out_stride == row.out * row.out_stride;
    if (outer.in > 1 && !(adjoins && is_pointwise(row))) return;
    row.in *= outer.in;
    row.out *= outer.out;
    outer = ConvolutionAxis{};
  }
}

// Computes the geometry. Precondition: convolution_shape() has checked the tensors, and `out` has the
// result's shape. The tensors are of class Tensor or, at compile time, CallValue.
template <class AnyTensor>
constexpr ConvolutionGeometry convolution_geometry(const AnyTensor& input, const AnyTensor& weight,
                                                   const ConvolutionArguments& arguments,
                                                   const AnyTensor& out) {
  ConvolutionGeometry made{};
  made.transposed = arguments.transposed;
  made.batch = input.size(0);
  made.groups = static_cast<ptrdiff_t>(arguments.groups);
  made.in_batch_stride = static_cast<ptrdiff_t>(input.strides()[0]);
  made.in_channel_stride = static_cast<ptrdiff_t>(input.strides()[1]);
  made.out_batch_stride = static_cast<ptrdiff_t>(out.strides()[0]);
  made.out_channel_stride = static_cast<ptrdiff_t>(out.strides()[1]);
  // Dimension 0 of the weight is output channels; for transposed convolutions it is input channels.
  const ptrdiff_t first = weight.size(0) / made.groups;
  const ptrdiff_t second = weight.size(1);
  const auto first_stride = static_cast<ptrdiff_t>(weight.strides()[0]);
  const auto second_stride = static_cast<ptrdiff_t>(weight.strides()[1]);
  made.weight_group_stride = first * first_stride;
  made.out_channels = arguments.transposed ? second : first;
  made.weight_out_stride = arguments.transposed ? second_stride : first_stride;
  made.in_channels = arguments.transposed ? first : second;
  made.weight_in_stride = arguments.transposed ? first_stride : second_stride;
  plan_axes(input, weight, arguments, out, made.axes);
  lengthen_row(made.axes);
  return made;
}

}  // namespace rushlight::kernels
