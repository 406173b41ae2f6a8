// SPDX-License-Identifier: BSD-3-Clause
// Where the numbers of a convolution lie. Strides are in elements of the tensor they belong to.
#pragma once

#include <cstddef>

#include "kernels/shared/convolution.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::optimized {

inline constexpr size_t kAxes = 3;  // 1-d and 2-d convolutions have leading dimensions of size 1

struct Axis {
  ptrdiff_t in = 1;
  ptrdiff_t out = 1;
  ptrdiff_t kernel = 1;
  ptrdiff_t step = 1;  // the convolution's stride
  ptrdiff_t pad = 0;
  ptrdiff_t dilation = 1;
  ptrdiff_t in_stride = 0;
  ptrdiff_t out_stride = 0;
  ptrdiff_t kernel_stride = 0;

  // The positions that belong to an output: input_at(start(o), k) is where it sees the input through element
  // k of the kernel, or negative where it sees none.
  [[nodiscard]] ptrdiff_t start(ptrdiff_t output, bool transposed) const {
    return transposed ? output + pad : output * step - pad;
  }
  [[nodiscard]] ptrdiff_t input_at(ptrdiff_t start, ptrdiff_t k, bool transposed) const {
    ptrdiff_t at = transposed ? start - k * dilation : start + k * dilation;
    if (transposed && step > 1) {
      if (at < 0 || at % step != 0) return -1;
      at /= step;
    }
    return at < in ? at : -1;
  }
};

struct Geometry {
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
  Axis axes[kAxes];  // the last one is the row

  [[nodiscard]] ptrdiff_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

// Rows are as long as layouts and kernel allow.
Geometry geometry_of(const Tensor& input, const Tensor& weight, const ConvolutionArguments& arguments,
                     const Tensor& out);

}  // namespace rushlight::kernels::optimized
