// SPDX-License-Identifier: BSD-3-Clause
// Copies an input with few channels to channels-last pixels with a border of zeros, so that the tiles of
// rows.h need no border tests and channels are adjacent.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Bytes of one image with its border: all positions that outputs see, [rows][columns][channels] floats.
[[nodiscard]] size_t bordered_size(const Convolution& convolution);

// Copies image `index` of the batch to `image`. Returns the convolution of this image, without padding.
[[nodiscard]] Convolution add_border(KernelContext& context, const Convolution& convolution, ptrdiff_t index,
                                     float* image);

}  // namespace rushlight::kernels::host
