// SPDX-License-Identifier: BSD-3-Clause
// Pixel shuffle and unshuffle: with factor r, channel c r^2 + i r + j of the deep image holds the pixels (y r
// + i, x r + j) of channel c of the wide one.
#pragma once

#include <cstdint>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/walk/strided_copy.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

// Checks that both tensors have one dtype, out of `types`, and rank 3 at least; the image is the last three
// dimensions. The factor is at least 1; operators check that it divides the sizes. InvalidType,
// InvalidArgument.
Error check_pixel_shuffle(TypeSet types, const Tensor& self, int64_t factor, const Tensor& out);

// Resizes `out` to the sizes of `self` with the last three replaced. InvalidArgument.
Error resize_image(const Tensor& self, int64_t channels, int64_t height, int64_t width, const Tensor& out);

// Calls copy(part of deep, part of wide) for each phase (i, j); both parts are strided views. A shuffle
// copies to `wide`, an unshuffle to `deep`. Stops at an error of `copy`. Precondition: the sizes of both
// tensors fit the factor.
template <class Copy>
Error for_each_phase(const Tensor& deep, const Tensor& wide, int64_t factor, Copy copy) {
  if (deep.numel() == 0) return Error::Ok;
  const auto channels = static_cast<size_t>(deep.dim() - 3);
  // Phase i * factor + j: every factor^2-th channel of the deep image, every factor-th row and column of the
  // wide one.
  const auto step = static_cast<ptrdiff_t>(factor);
  for (ptrdiff_t phase = 0; phase < step * step; ++phase) {
    View part = View::of(deep);
    View pixels = View::of(wide);
    part.slice(channels, phase, wide.sizes()[channels], step * step);
    pixels.slice(channels + 1, phase / step, deep.sizes()[channels + 1], step);
    pixels.slice(channels + 2, phase % step, deep.sizes()[channels + 2], step);
    RL_TRY(copy(part, pixels));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
