// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/pooling.h"

#include <algorithm>

#include "kernels/geometry/spatial.h"

namespace rushlight::kernels {

namespace {

int64_t count_windows(const Window& window, bool ceil_mode) {
  // PyTorch's rule: (in + 2 pad - reach) / step + 1 windows, rounded down, or up with ceil_mode.
  const int64_t reach = window.dilation * (window.kernel - 1) + 1;
  const int64_t slack = window.in + 2 * window.pad - reach;
  if (slack < 0 && !(ceil_mode && slack > -window.step)) return 0;
  if (!ceil_mode) return slack / window.step + 1;
  const int64_t count = (slack + window.step - 1) / window.step + 1;
  // No window starts in the padding on the far side.
  return (count - 1) * window.step >= window.in + window.pad ? count - 1 : count;
}

}  // namespace

// The first and the end position inside the input. The window is empty if it lies in the padding as a whole.
Covered covered(const Window& window, ptrdiff_t index) {
  const int64_t start = index * window.step - window.pad;
  const int64_t end = std::min(start + (window.kernel - 1) * window.dilation + 1, window.in);
  // Elements before the border are skipped in whole steps of the dilation.
  const int64_t outside = start < 0 ? steps_up(-start, window.dilation) : 0;
  return {static_cast<ptrdiff_t>(start + outside * window.dilation), static_cast<ptrdiff_t>(end)};
}

Error plan_windows(const Tensor& self, const PoolArguments& arguments, size_t spatial, Window* windows) {
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(rank == spatial + 1 || rank == spatial + 2, Error::InvalidArgument,
           "self: expected rank %lu or %lu, got %lu", static_cast<unsigned long>(spatial + 1),
           static_cast<unsigned long>(spatial + 2), static_cast<unsigned long>(rank));
  // PyTorch's default stride is the kernel.
  const bool steps_by_kernel = arguments.stride.empty();
  RL_TRY(check_spatial_list(arguments.kernel_size, spatial, 1, "kernel_size"));
  if (!steps_by_kernel) RL_TRY(check_spatial_list(arguments.stride, spatial, 1, "stride"));
  RL_TRY(check_spatial_list(arguments.padding, spatial, 0, "padding"));
  RL_TRY(check_spatial_list(arguments.dilation, spatial, 1, "dilation"));
  // Only the batch may be empty.
  for (size_t d = rank - spatial - 1; d < rank; ++d) {
    RL_CHECK(self.sizes()[d] > 0, Error::InvalidArgument, "self: dimension %lu is empty",
             static_cast<unsigned long>(d));
  }
  for (size_t i = 0; i < spatial; ++i) {
    Window& window = windows[i];
    window.in = self.sizes()[rank - spatial + i];
    window.kernel = spatial_item(arguments.kernel_size, i);
    window.step = spatial_item(steps_by_kernel ? arguments.kernel_size : arguments.stride, i);
    window.pad = spatial_item(arguments.padding, i);
    window.dilation = spatial_item(arguments.dilation, i);
    // With more padding a window could see nothing but padding. PyTorch leaves the dilation of volumes out.
    const int64_t reach = spatial == 3 ? window.kernel : window.dilation * (window.kernel - 1) + 1;
    RL_CHECK(window.pad <= reach / 2, Error::InvalidArgument,
             "padding: expected at most half of the window, which is %ld, got %ld", static_cast<long>(reach),
             static_cast<long>(window.pad));
    window.out = count_windows(window, arguments.ceil_mode);
    RL_CHECK(window.out >= 1 && window.out <= kSpatialLimit, Error::InvalidArgument,
             "self: a dimension of size %ld fits %ld windows", static_cast<long>(window.in),
             static_cast<long>(window.out));
  }
  return Error::Ok;
}

Shape pooled_shape(const Tensor& self, Span<const Window> windows) {
  const size_t kept = self.sizes().size() - windows.size();
  Shape shape;
  for (size_t d = 0; d < kept; ++d) shape.push(self.sizes()[d]);
  for (const Window& window : windows) shape.push(static_cast<ptrdiff_t>(window.out));
  return shape;
}

Error check_shape(const Tensor& tensor, Span<const SizesType> sizes, const char* name) {
  const Span<const SizesType> got = tensor.sizes();
  bool is_equal = got.size() == sizes.size();
  for (size_t d = 0; is_equal && d < sizes.size(); ++d) is_equal = got[d] == sizes[d];
  RL_CHECK(is_equal, Error::InvalidArgument,
           "%s: expected the shape that the other arguments give, got another", name);
  return Error::Ok;
}

}  // namespace rushlight::kernels
