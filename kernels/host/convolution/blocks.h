// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions, and those in groups of 2, 4, 8 or 16 channels, of channels-first images. A block of
// 16 channels is transposed row by row, so that vectors hold channels: a plane narrower than a vector wastes
// no lanes, and loads are aligned.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Bytes of scratch memory for each thread.
[[nodiscard]] size_t blocks_scratch_size(const Convolution& convolution);

// Computes the convolution from the weights of pack_depthwise(). `scratch` is for `threads` threads; if these
// are fewer than the context's, one thread does all the work. Precondition: gains_by_blocks().
void convolve_blocks(KernelContext& context, const Convolution& convolution, const float* packed,
                     float* scratch, size_t threads);

}  // namespace rushlight::kernels::host
