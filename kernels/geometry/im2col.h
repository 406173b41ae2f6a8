// SPDX-License-Identifier: BSD-3-Clause
// im2col and col2im: [N, C kH kW, L] has for each of the L positions of a sliding window the elements that
// the window sees there.
#pragma once

#include <cstdint>

#include "kernels/geometry/pooling.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

struct WindowArguments {
  Span<const int64_t> kernel_size;
  Span<const int64_t> dilation;
  Span<const int64_t> padding;
  Span<const int64_t> stride;
};

// Fills in two windows over an image of these sizes. InvalidArgument as PyTorch refuses.
Error plan_im2col(const WindowArguments& arguments, int64_t height, int64_t width, Window* windows);

// Two parts of the columns and the image, [N, C, y, x], whose elements belong together.
using PairedParts = Error (*)(const View& columns, const View& image);

// f of every element of the window: of all its positions but those where it lies in the padding. Both
// tensors have a batch or none.
Error for_each_window_element(const Tensor& columns, const Tensor& image, const Window* windows,
                              PairedParts f);

}  // namespace rushlight::kernels
