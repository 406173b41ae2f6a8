// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a convolution in one to three dimensions, and the shape of its result. Each spatial size
// becomes
//
//   (in + 2 pad - dilation (kernel - 1) - 1) / step + 1                       rounded down
//   (in - 1) step - 2 pad + dilation (kernel - 1) + output_padding + 1        transposed
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/geometry/spatial.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The arguments of aten::convolution. Lists have one value for each spatial dimension, or one for all. Refers
// to the caller's lists.
struct ConvolutionArguments {
  Span<const int64_t> stride;
  Span<const int64_t> padding;
  Span<const int64_t> dilation;
  bool transposed;
  Span<const int64_t> output_padding;
  int64_t groups;
};

// The multiply-accumulates of a convolution, including multiplications of padding. A transposed convolution
// multiplies each element of the input, another one produces each element of the output.
[[nodiscard]] inline size_t convolution_products(const Tensor& input, const Tensor& weight, const Tensor& out,
                                                 bool transposed) {
  const auto channels = static_cast<size_t>(std::max<ptrdiff_t>(weight.dim() == 0 ? 1 : weight.size(0), 1));
  return (transposed ? input : out).numel() * (weight.numel() / channels);
}

inline constexpr size_t kSpatial = 3;  // 1-d and 2-d convolutions have leading axes of size 1

// One spatial dimension. The defaults describe an axis that a convolution does not have. Strides are in
// elements of their tensor. Sizes and positions fit in 32 bits, padding included.
struct ConvolutionAxis {
  // Sizes of the input, the output and the kernel, then the arguments, then the strides of the axis in the
  // three tensors.
  ptrdiff_t in = 1;
  ptrdiff_t out = 1;
  ptrdiff_t kernel = 1;
  ptrdiff_t step = 1;  // the convolution's stride
  ptrdiff_t pad = 0;
  ptrdiff_t dilation = 1;
  ptrdiff_t in_stride = 0;
  ptrdiff_t out_stride = 0;
  ptrdiff_t kernel_stride = 0;
};

// Fills the last axes from the tensors, in the order of their dimensions; leading axes keep their defaults.
// Precondition: `out` has the shape of the result. The tensors are of class Tensor or CallValue.
template <class AnyTensor>
constexpr void plan_axes(const AnyTensor& input, const AnyTensor& weight,
                         const ConvolutionArguments& arguments, const AnyTensor& out, ConvolutionAxis* axes) {
  const size_t spatial = input.sizes().size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    ConvolutionAxis& axis = axes[kSpatial - spatial + i];
    axis.in = static_cast<ptrdiff_t>(input.sizes()[i + 2]);
    axis.out = static_cast<ptrdiff_t>(out.sizes()[i + 2]);
    axis.kernel = static_cast<ptrdiff_t>(weight.sizes()[i + 2]);
    axis.step = static_cast<ptrdiff_t>(spatial_item(arguments.stride, i));
    axis.pad = static_cast<ptrdiff_t>(spatial_item(arguments.padding, i));
    axis.dilation = static_cast<ptrdiff_t>(spatial_item(arguments.dilation, i));
    axis.in_stride = static_cast<ptrdiff_t>(input.strides()[i + 2]);
    axis.out_stride = static_cast<ptrdiff_t>(out.strides()[i + 2]);
    axis.kernel_stride = static_cast<ptrdiff_t>(weight.strides()[i + 2]);
  }
}

// True if output i of the axis sees input i only, so that such axes may merge. False if output padding makes
// a transposed axis longer than its input.
[[nodiscard]] constexpr bool is_pointwise(const ConvolutionAxis& axis) {
  return axis.kernel == 1 && axis.step == 1 && axis.pad == 0 && axis.in == axis.out;
}

// Checks the tensors and arguments, and writes the shape of the result; `shape` must be empty. The weight is
// [out, in / groups, taps...], transposed [in, out / groups, taps...]; the bias has one element for each
// output channel. Every spatial size of the result is at least 1. InvalidArgument (shapes, arguments),
// InvalidType (dtypes differ).
Error convolution_shape(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                        const ConvolutionArguments& arguments, Shape* shape);

// The same without the bias, for tensors of any dtypes. InvalidArgument.
Error convolution_sizes(const Tensor& input, const Tensor& weight, const ConvolutionArguments& arguments,
                        Shape* shape);

}  // namespace rushlight::kernels
