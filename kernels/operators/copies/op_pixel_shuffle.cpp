// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/pixel_shuffle.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// [..., C r^2, H, W] to [..., C, H r, W r] with the factor r: one strided copy for each of the r^2 phases.
Error pixel_shuffle_out(KernelContext&, const Tensor& self, int64_t upscale_factor, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::pixel_shuffle.out");
  RL_TRY(check_pixel_shuffle(kTypes, self, upscale_factor, out));
  const int64_t channels = self.size(self.dim() - 3);
  const int64_t phases = upscale_factor * upscale_factor;
  RL_CHECK(channels % phases == 0, Error::InvalidArgument,
           "self: expected channels in multiples of %ld squared, got %ld", static_cast<long>(upscale_factor),
           static_cast<long>(channels));
  RL_TRY(resize_image(self, channels / phases, self.size(self.dim() - 2) * upscale_factor,
                      self.size(self.dim() - 1) * upscale_factor, out));
  return for_each_phase(self, out, upscale_factor,
                        [](const View& part, const View& pixels) { return copy_view(pixels, part); });
}

}  // namespace rushlight::kernels
