// SPDX-License-Identifier: BSD-3-Clause
// im2col and col2im. The matrix [N, C kH kW, L] has, for each of the L positions of a sliding window, the
// elements that the window sees; row c kH kW + i kW + j has tap (i, j) of channel c. im2col copies image
// elements to the matrix, col2im adds them back.
#pragma once

#include <cstdint>

#include "kernels/geometry/pooling.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

// The arguments of im2col: lists of two values, or one for both.
struct WindowArguments {
  Span<const int64_t> kernel_size;
  Span<const int64_t> dilation;
  Span<const int64_t> padding;
  Span<const int64_t> stride;
};

// Computes the windows over an image of height x width, one for each dimension; L is the product of their
// `out`. InvalidArgument where PyTorch refuses.
Error plan_im2col(const WindowArguments& arguments, int64_t height, int64_t width, Window* windows);

// A part of the matrix and a part of the image, both [N, C, y, x], with corresponding elements.
using PairedParts = Error (*)(const View& columns, const View& image);

// Calls f once for each tap of the window, with all window positions that see the image through it; positions
// in the padding are left out, so im2col fills the matrix with zeros first. Both tensors have a batch
// dimension, or neither has. Returns the first error of f.
Error for_each_window_element(const Tensor& columns, const Tensor& image, const Window* windows,
                              PairedParts f);

}  // namespace rushlight::kernels
