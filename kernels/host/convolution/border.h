// SPDX-License-Identifier: BSD-3-Clause
// Copies an input to channels-last pixels with a border of zeros, so that the tiles of rows.h need no border
// tests and channels are adjacent.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// can_have_border(): true if the copy has a reasonable size. gains_by_border(): true if the copy saves time,
// and the result is channels-last; the input may have another layout.
[[nodiscard]] bool can_have_border(const Convolution& convolution);
[[nodiscard]] bool gains_by_border(const Convolution& convolution);

// Bytes of one image with its border: all positions that outputs see, [rows][columns][channels] floats.
[[nodiscard]] size_t bordered_size(const Convolution& convolution);

// The convolution of one image after the copy: channels-last without padding (transposed convolutions keep
// theirs). The addresses are unchanged.
[[nodiscard]] Convolution with_border(const Convolution& convolution);

// Copies image `index` of the batch to `image`. Returns with_border() of this image.
[[nodiscard]] Convolution add_border(KernelContext& context, const Convolution& convolution, ptrdiff_t index,
                                     float* image);

}  // namespace rushlight::kernels::host
