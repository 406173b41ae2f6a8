// SPDX-License-Identifier: BSD-3-Clause
// Winograd convolution F(2x2, 3x3) for 3 x 3 kernels with many channels: 16 instead of 36 multiplications for
// four outputs, see kernels/ukernel/winograd.h. Weights are transformed at load and take 16/9 of their
// memory. Results differ from the other methods in the last bits. Reference: Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", 2016.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Bytes of transformed weights, and the transform.
[[nodiscard]] size_t packed_winograd_size(const Convolution& convolution);
void pack_winograd(KernelContext& context, const Convolution& convolution, float* packed);

// Bytes of scratch memory of all `threads`.
[[nodiscard]] size_t winograd_scratch_size(const Convolution& convolution, size_t threads);

// Convolves one image on `threads` threads; the batch size is ignored. Returns false if a sum of products is
// infinite or NaN: the transform spreads it to outputs that do not see the input it came from, so the caller
// then computes the image with another method.
[[nodiscard]] bool convolve_winograd(KernelContext& context, const Convolution& convolution,
                                     const float* packed, float* scratch, size_t threads);

}  // namespace rushlight::kernels::host
