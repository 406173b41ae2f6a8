// SPDX-License-Identifier: BSD-3-Clause
// Copies an input to channels-last pixels with a border of zeros, so that the tiles of rows.h need no border
// tests and channels are adjacent.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Copies image `index` of the batch to `image`. Returns with_border() of this image.
[[nodiscard]] Convolution add_border(KernelContext& context, const Convolution& convolution, ptrdiff_t index,
                                     float* image);

}  // namespace rushlight::kernels::host
