// SPDX-License-Identifier: BSD-3-Clause
// Channels-last convolutions as matrix products: the rows are pixels, read in place through pointers (no
// im2col), the right-hand side are panels of packed weights.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Bytes of packed weights including a row of zeros, which taps in the padding read, and the packing.
[[nodiscard]] size_t packed_rows_size(const Convolution& convolution);
void pack_rows(KernelContext& context, const Convolution& convolution, float* packed);

// Computes the convolution. Precondition: has_channels_last(). Needs no scratch memory.
void convolve_rows(KernelContext& context, const Convolution& convolution, const float* packed);

}  // namespace rushlight::kernels::host
