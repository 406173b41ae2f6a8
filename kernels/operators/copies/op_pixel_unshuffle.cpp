// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/pixel_shuffle.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// [..., C, H r, W r] to [..., C r^2, H, W] with the factor r, the inverse of pixel_shuffle.
Error pixel_unshuffle_out(KernelContext&, const Tensor& self, int64_t downscale_factor, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::pixel_unshuffle.out");
  RL_TRY(check_pixel_shuffle(kTypes, self, downscale_factor, out));
  const int64_t height = self.size(self.dim() - 2);
  const int64_t width = self.size(self.dim() - 1);
  RL_CHECK(height % downscale_factor == 0 && width % downscale_factor == 0, Error::InvalidArgument,
           "self: expected multiples of %ld, got %ld and %ld", static_cast<long>(downscale_factor),
           static_cast<long>(height), static_cast<long>(width));
  const int64_t channels = self.size(self.dim() - 3);
  RL_CHECK(channels == 0 || height == 0 || width == 0 || channels <= INT32_MAX / downscale_factor,
           Error::InvalidArgument, "downscale_factor: %ld is too large", static_cast<long>(downscale_factor));
  RL_TRY(resize_image(self, channels * downscale_factor * downscale_factor, height / downscale_factor,
                      width / downscale_factor, out));
  return for_each_phase(out, self, downscale_factor,
                        [](const View& part, const View& pixels) { return copy_view(part, pixels); });
}

}  // namespace rushlight::kernels
