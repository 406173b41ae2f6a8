// SPDX-License-Identifier: BSD-3-Clause
// 3 x 3 convolutions of many channels with fewer products: kernels/ukernel/winograd.h. Weights are
// transformed when a method is loaded, which takes 16/9 of their memory.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Whether it can be computed so, and whether that is faster.
[[nodiscard]] bool is_winograd(const Convolution& convolution);
[[nodiscard]] bool gains_by_winograd(const Convolution& convolution);

// Bytes of transformed weights, and the transform.
[[nodiscard]] size_t packed_winograd_size(const Convolution& convolution);
void pack_winograd(const Convolution& convolution, float* packed);

[[nodiscard]] size_t winograd_scratch_size(const Convolution& convolution);  // bytes

// One image: its batch is not looked at. False when a sum of products is infinite or NaN, which in a tile
// spreads to outputs that do not see the input it comes from: the caller then computes the image directly.
[[nodiscard]] bool convolve_winograd(KernelContext& context, const Convolution& convolution,
                                     const float* packed, float* scratch);

}  // namespace rushlight::kernels::host
