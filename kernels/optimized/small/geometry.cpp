// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/small/geometry.h"

#include <utility>

#include "kernels/shared/spatial.h"

namespace rushlight::kernels::optimized {

namespace {

// A transposed axis may be longer than its input, by output padding.
bool is_pointwise(const Axis& axis) {
  return axis.kernel == 1 && axis.step == 1 && axis.pad == 0 && axis.in == axis.out;
}

void lengthen_row(Axis* axes) {
  Axis& row = axes[kAxes - 1];
  for (size_t i = kAxes - 1; i-- > 0;) {
    Axis& outer = axes[i];
    if (outer.in == 1 && outer.out == 1 && is_pointwise(outer)) continue;
    const bool adjoins =
        outer.in_stride == row.in * row.in_stride && outer.out_stride == row.out * row.out_stride;
    if (!adjoins || !is_pointwise(outer) || !is_pointwise(row)) return;
    row.in *= outer.in;
    row.out *= outer.out;
    outer = Axis{};
  }
}

}  // namespace

Geometry geometry_of(const Tensor& input, const Tensor& weight, const ConvolutionArguments& arguments,
                     const Tensor& out) {
  Geometry geometry;
  const Span<const StridesType> strides = weight.strides();
  const auto groups = static_cast<ptrdiff_t>(arguments.groups);
  // The weight's first dimension counts output channels; transposed, input channels.
  const ptrdiff_t first = weight.sizes()[0] / groups;
  geometry.transposed = arguments.transposed;
  geometry.batch = input.sizes()[0];
  geometry.groups = groups;
  geometry.out_channels = first;
  geometry.in_channels = weight.sizes()[1];
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
  const size_t spatial = input.sizes().size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    Axis& axis = geometry.axes[kAxes - spatial + i];
    axis.in = input.sizes()[i + 2];
    axis.out = out.sizes()[i + 2];
    axis.kernel = weight.sizes()[i + 2];
    axis.step = static_cast<ptrdiff_t>(spatial_item(arguments.stride, i));
    axis.pad = static_cast<ptrdiff_t>(spatial_item(arguments.padding, i));
    axis.dilation = static_cast<ptrdiff_t>(spatial_item(arguments.dilation, i));
    axis.in_stride = input.strides()[i + 2];
    axis.out_stride = out.strides()[i + 2];
    axis.kernel_stride = strides[i + 2];
  }
  lengthen_row(geometry.axes);
  return geometry;
}

}  // namespace rushlight::kernels::optimized
