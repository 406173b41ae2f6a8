// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/convolution_geometry.h"

#include <utility>

#include "kernels/geometry/convolution_shape.h"

namespace rushlight::kernels {

namespace {

// Merges pointwise axes into the row while they adjoin it in both tensors. The order of the axes stays.
void lengthen_row(ConvolutionAxis* axes) {
  ConvolutionAxis& row = axes[kSpatial - 1];
  for (size_t i = kSpatial - 1; i-- > 0;) {
    ConvolutionAxis& outer = axes[i];
    if (outer.in == 1 && outer.out == 1 && is_pointwise(outer)) continue;
    // The end of a row is followed by the next row, in input and output.
    const bool adjoins =
        outer.in_stride == row.in * row.in_stride && outer.out_stride == row.out * row.out_stride;
    if (!adjoins || !is_pointwise(outer) || !is_pointwise(row)) return;
    row.in *= outer.in;
    row.out *= outer.out;
    outer = ConvolutionAxis{};
  }
}

}  // namespace

ConvolutionGeometry convolution_geometry(const Tensor& input, const Tensor& weight,
                                         const ConvolutionArguments& arguments, const Tensor& out) {
  ConvolutionGeometry geometry;
  const Span<const StridesType> strides = weight.strides();
  const auto groups = static_cast<ptrdiff_t>(arguments.groups);
  // Dimension 0 of the weight is output channels; for transposed convolutions it is input channels.
  const ptrdiff_t first = weight.sizes()[0] / groups;
  geometry.transposed = arguments.transposed;
  geometry.batch = input.sizes()[0];
  geometry.groups = groups;
  geometry.out_channels = first;
  geometry.in_channels = weight.sizes()[1];
  // Strides of a weight [out, in, ...]; exchanged below for transposed convolutions.
  geometry.weight_out_stride = strides[0];
  geometry.weight_in_stride = strides[1];
  geometry.weight_group_stride = first * strides[0];
  if (arguments.transposed) {
    std::swap(geometry.in_channels, geometry.out_channels);
    std::swap(geometry.weight_in_stride, geometry.weight_out_stride);
  }
  geometry.in_batch_stride = input.strides()[0];
  geometry.in_channel_stride = input.strides()[1];
  geometry.out_batch_stride = out.strides()[0];
  geometry.out_channel_stride = out.strides()[1];
  plan_axes(input, weight, arguments, out, geometry.axes);
  lengthen_row(geometry.axes);
  return geometry;
}

}  // namespace rushlight::kernels
