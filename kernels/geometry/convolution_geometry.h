// SPDX-License-Identifier: BSD-3-Clause
// Where the numbers of a convolution lie. Strides are in elements of the tensor they belong to.
#pragma once

#include <cstddef>

#include "kernels/geometry/convolution_shape.h"

namespace rushlight::kernels {

// The positions that belong to an output: input_at(first_position(o), k) is where it sees the input through
// element k of the kernel, or negative where it sees none.
[[nodiscard]] inline ptrdiff_t first_position(const ConvolutionAxis& axis, ptrdiff_t output,
                                              bool transposed) {
  return transposed ? output + axis.pad : output * axis.step - axis.pad;
}
// The same of an input that is spread by the step.
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

struct ConvolutionGeometry {
  bool transposed;
  ptrdiff_t batch;
  ptrdiff_t groups;
  ptrdiff_t in_channels;  // of a group
  ptrdiff_t out_channels;
  ptrdiff_t in_batch_stride;
  ptrdiff_t out_batch_stride;
  ptrdiff_t in_channel_stride;
  ptrdiff_t out_channel_stride;
  ptrdiff_t weight_in_stride;
  ptrdiff_t weight_out_stride;
  ptrdiff_t weight_group_stride;
  ConvolutionAxis axes[kSpatial];  // the last one is the row

  [[nodiscard]] ptrdiff_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

// Rows are as long as layouts and kernel allow.
ConvolutionGeometry convolution_geometry(const Tensor& input, const Tensor& weight,
                                         const ConvolutionArguments& arguments, const Tensor& out);

}  // namespace rushlight::kernels
