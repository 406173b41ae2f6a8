// SPDX-License-Identifier: BSD-3-Clause
// Direct loops with a border test for each tap. Padding contributes zero_point * weight, since the bias
// accounts for the zero point of every tap. Neither packing nor scratch memory: serves as the reference for
// the backs, and for layouts that they do not take.
#include "kernels/quantization/integer_convolution.h"

#include "kernels/checks/selection.h"
#include "kernels/geometry/convolution_geometry.h"
#include "kernels/quantization/requantization.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    kQuantizedElements & (selected_types("rushlight::quantized_convolution.out") |
                          selected_types("cortex_m::quantized_conv2d.out") |
                          selected_types("cortex_m::quantized_conv2d_nhwc.out") |
                          selected_types("cortex_m::quantized_depthwise_conv2d.out") |
                          selected_types("cortex_m::quantized_depthwise_conv2d_nhwc.out") |
                          selected_types("cortex_m::quantized_transpose_conv2d.out") |
                          selected_types("cortex_m::quantized_transpose_conv2d_nhwc.out"));

// The sum of one output of one channel: taps * in_channels multiply-accumulates. `in` and `weight` point to
// the first channel of the group. Integer sums are exact, so the backs may add in any order.
template <class T>
ProductSum<T> sum_at(const ConvolutionGeometry& g, const T* in, const int8_t* weight, const ptrdiff_t* at,
                     int32_t zero_point) {
  ProductSum<T> sum = 0;
  ptrdiff_t k[kSpatial];
  for (k[0] = 0; k[0] < g.axes[0].kernel; ++k[0]) {
    for (k[1] = 0; k[1] < g.axes[1].kernel; ++k[1]) {
      for (k[2] = 0; k[2] < g.axes[2].kernel; ++k[2]) {
        ptrdiff_t in_offset = 0, weight_offset = 0;
        bool inside = true;
        for (size_t i = 0; i < kSpatial; ++i) {
          const ConvolutionAxis& axis = g.axes[i];
          const ptrdiff_t position =
              input_at(axis, first_position(axis, at[i], g.transposed), k[i], g.transposed);
          inside = inside && position >= 0;
          in_offset += position * axis.in_stride;
          weight_offset += k[i] * axis.kernel_stride;
        }
        // The border test is for a tap, so that the loop over channels has none but a constant condition.
        const int8_t* w = weight + weight_offset;
        for (ptrdiff_t c = 0; c < g.in_channels; ++c, w += g.weight_in_stride) {
          sum += (inside ? int32_t{in[in_offset + c * g.in_channel_stride]} : zero_point) * *w;
        }
      }
    }
  }
  return sum;
}

template <class T>
void convolve(const IntegerConvolution& convolution) {
  const ConvolutionGeometry g =
      convolution_geometry(convolution.input, convolution.weight, convolution.arguments, convolution.out);
  const auto* bias = convolution.bias ? convolution.bias->const_data_ptr<ProductSum<T>>() : nullptr;
  for (ptrdiff_t n = 0; n < g.batch; ++n) {
    const T* in = convolution.input.const_data_ptr<T>() + n * g.in_batch_stride;
    T* out = convolution.out.mutable_data_ptr<T>() + n * g.out_batch_stride;
    for (ptrdiff_t channel = 0; channel < g.groups * g.out_channels; ++channel) {
      // Channel counts of the geometry are for one group.
      const ptrdiff_t group = channel / g.out_channels;
      const T* first = in + group * g.in_channels * g.in_channel_stride;
      const int8_t* weight = convolution.weight.const_data_ptr<int8_t>() + group * g.weight_group_stride +
                             channel % g.out_channels * g.weight_out_stride;
      // The inner loops cover depth, height and width; axes that a convolution lacks have size 1.
      ptrdiff_t at[kSpatial];
      for (at[0] = 0; at[0] < g.axes[0].out; ++at[0]) {
        for (at[1] = 0; at[1] < g.axes[1].out; ++at[1]) {
          for (at[2] = 0; at[2] < g.axes[2].out; ++at[2]) {
            const ProductSum<T> sum = sum_at(g, first, weight, at, convolution.input_zero_point) +
                                      (bias == nullptr ? 0 : bias[channel]);
            out[at[0] * g.axes[0].out_stride + at[1] * g.axes[1].out_stride + at[2] * g.axes[2].out_stride +
                channel * g.out_channel_stride] =
                static_cast<T>(ukernel::requantize_sum(convolution.to, sum, static_cast<size_t>(channel)));
          }
        }
      }
    }
  }
}

}  // namespace

size_t products_of_sum(const IntegerConvolution& convolution) {
  const Tensor& weight = convolution.weight;
  const ConvolutionArguments& arguments = convolution.arguments;
  const auto groups = static_cast<ptrdiff_t>(arguments.groups);
  const auto outputs = static_cast<size_t>(arguments.transposed ? weight.size(1) : weight.size(0) / groups);
  // Each weight of a group serves one output channel.
  const size_t all = weight.numel() / static_cast<size_t>(groups);
  return outputs == 0 ? 0 : all / outputs;
}

Error convolve_integers(const IntegerConvolution& convolution) {
  return dispatch<kTypes>(convolution.input.scalar_type(), [&](auto type) {
    convolve<typename decltype(type)::Element>(convolution);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
