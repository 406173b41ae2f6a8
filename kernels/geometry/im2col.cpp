// SPDX-License-Identifier: BSD-3-Clause
// Goes tap by tap: for each tap the matrix and the image are two strided views, so one view copy moves all
// its elements, and padding is only a smaller range.
//
//   matrix[n, (c kH + i) kW + j, y W + x] = image[n, c, y step + i dilation - pad, x step + j dilation - pad]
#include "kernels/geometry/im2col.h"

#include <algorithm>

#include "kernels/geometry/spatial.h"

namespace rushlight::kernels {

namespace {

// The window positions that see the image through one tap.
struct TapPositions {
  ptrdiff_t first;
  ptrdiff_t count;
  ptrdiff_t position;  // image position that the first one sees
};

TapPositions tap_positions(const Window& window, ptrdiff_t element) {
  // Position p sees the input p * step + offset: first = ceil(-offset / step), end = ceil((in - offset) /
  // step).
  const int64_t offset = element * window.dilation - window.pad;
  const int64_t first = offset < 0 ? (-offset + window.step - 1) / window.step : 0;
  const int64_t slack = window.in - offset;
  const int64_t end = slack > 0 ? std::min((slack + window.step - 1) / window.step, window.out) : 0;
  return {static_cast<ptrdiff_t>(first), static_cast<ptrdiff_t>(std::max<int64_t>(end - first, 0)),
          static_cast<ptrdiff_t>(first * window.step + offset)};
}

}  // namespace

Error plan_im2col(const WindowArguments& arguments, int64_t height, int64_t width, Window* windows) {
  constexpr size_t kDims = 2;
  RL_TRY(check_spatial_list(arguments.kernel_size, kDims, 1, "kernel_size"));
  RL_TRY(check_spatial_list(arguments.dilation, kDims, 1, "dilation"));
  RL_TRY(check_spatial_list(arguments.padding, kDims, 0, "padding"));
  RL_TRY(check_spatial_list(arguments.stride, kDims, 1, "stride"));
  for (size_t i = 0; i < kDims; ++i) {
    Window& window = windows[i];
    window.in = i == 0 ? height : width;
    window.kernel = spatial_item(arguments.kernel_size, i);
    window.step = spatial_item(arguments.stride, i);
    window.pad = spatial_item(arguments.padding, i);
    window.dilation = spatial_item(arguments.dilation, i);
    const int64_t slack = window.in + 2 * window.pad - window.dilation * (window.kernel - 1) - 1;
    window.out = slack < 0 ? 0 : slack / window.step + 1;
    RL_CHECK(window.out >= 1 && window.out <= kSpatialLimit, Error::InvalidArgument,
             "kernel_size: a dimension of size %ld fits %ld windows of %ld", static_cast<long>(window.in),
             static_cast<long>(window.out), static_cast<long>(window.kernel));
  }
  return Error::Ok;
}

Error for_each_window_element(const Tensor& columns, const Tensor& image, const Window* windows,
                              PairedParts f) {
  if (columns.numel() == 0) return Error::Ok;
  const auto rows = static_cast<ptrdiff_t>(windows[0].kernel);
  const auto row = static_cast<ptrdiff_t>(windows[1].kernel);
  const auto width = static_cast<ptrdiff_t>(windows[1].out);
  for (ptrdiff_t i = 0; i < rows; ++i) {
    const TapPositions down = tap_positions(windows[0], i);
    for (ptrdiff_t j = 0; j < row; ++j) {
      const TapPositions across = tap_positions(windows[1], j);
      if (down.count == 0 || across.count == 0) continue;
      View part = as_volume(columns, 1).select(2, 0).select(2, 0);  // [N, C kH kW, L]
      View pixels = as_volume(image, 2).select(2, 0);               // [N, C, H, W]
      // Every (kH kW)-th row of the matrix belongs to this tap; L is divided into rows and columns of
      // windows.
      part.slice(1, i * row + j, pixels.sizes[1], rows * row);
      const ptrdiff_t step = part.strides[2];
      part.insert(2, static_cast<SizesType>(windows[0].out), width * step);
      part.sizes[3] = static_cast<SizesType>(width);
      part.slice(2, down.first, down.count);
      part.slice(3, across.first, across.count);
      pixels.slice(2, down.position, down.count, static_cast<ptrdiff_t>(windows[0].step));
      pixels.slice(3, across.position, across.count, static_cast<ptrdiff_t>(windows[1].step));
      RL_TRY(f(part, pixels));
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
