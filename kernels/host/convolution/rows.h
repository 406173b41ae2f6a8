// SPDX-License-Identifier: BSD-3-Clause
// Convolutions whose input and output have their channels last: products of the pixels that a tile of outputs
// sees, which are read where they lie, and panels of packed weights.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Whether the layouts are those.
[[nodiscard]] bool has_channels_last(const Convolution& convolution);

// Packed weights, and a row of zeros behind them: bytes, and the packing.
[[nodiscard]] size_t packed_rows_size(const Convolution& convolution);
void pack_rows(const Convolution& convolution, float* packed);

void convolve_rows(KernelContext& context, const Convolution& convolution, const float* packed);

}  // namespace rushlight::kernels::host
