// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions in float32: each output channel sees one input channel. Two methods: by rows for
// channels-last, where vectors hold channels, and by planes for any layout, where vectors hold outputs of a
// row. The first also computes groups of 2, 4, 8 or 16 channels.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// packed_depthwise_size(): bytes of the weights as [phase][block of channels][tap][channel of the group]
// [channel of the block], see kernels/ukernel/depthwise.h. pack_depthwise(): writes them.
[[nodiscard]] size_t packed_depthwise_size(const Convolution& convolution);
void pack_depthwise(const Convolution& convolution, float* packed);
// Computes the convolution from packed weights, without scratch memory. Precondition: is_depthwise_rows().
void convolve_depthwise_rows(KernelContext& context, const Convolution& convolution, const float* packed);

// Bytes of scratch memory for each thread.
[[nodiscard]] size_t depthwise_scratch_size(const Convolution& convolution);
// Copies the image of a channel with its padding, in bands of rows, and filters the copy. `scratch` is for
// `threads` threads; if these are fewer than the context's, one thread does all the work.
void convolve_depthwise_planes(KernelContext& context, const Convolution& convolution, float* scratch,
                               size_t threads);

}  // namespace rushlight::kernels::host
