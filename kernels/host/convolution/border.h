// SPDX-License-Identifier: BSD-3-Clause
// Inputs of few channels as pixels with a border of zeros: what is a search for the edge in each tile of
// convolution_rows.h, and channels that are apart, is brought in order once.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Whether that is worth it. The result is channels-last, the input need not be.
[[nodiscard]] bool gains_by_border(const Convolution& convolution);

// Bytes of one image with its border.
[[nodiscard]] size_t bordered_size(const Convolution& convolution);

// Copies image `index` of the batch to `image`, and gives the convolution of it alone, which has no padding.
[[nodiscard]] Convolution add_border(KernelContext& context, const Convolution& convolution, ptrdiff_t index,
                                     float* image);

}  // namespace rushlight::kernels::host
