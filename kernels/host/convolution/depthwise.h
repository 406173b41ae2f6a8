// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions: an output channel sees one input channel.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Where one input channel makes one output channel and channels are last, for both.
[[nodiscard]] bool is_depthwise_rows(const Convolution& convolution);
// Bytes of the weights, a row of channels for each tap; and their packing.
[[nodiscard]] size_t packed_depthwise_size(const Convolution& convolution);
void pack_depthwise(const Convolution& convolution, float* packed);
void convolve_depthwise_rows(KernelContext& context, const Convolution& convolution, const float* packed);

// In any layout: an image of a channel is copied with its padding, in bands.
[[nodiscard]] bool is_depthwise(const Convolution& convolution);
// Bytes of scratch that each thread takes.
[[nodiscard]] size_t depthwise_scratch_size(const Convolution& convolution);
// `scratch` is for that many threads; with fewer than the context has only one works.
void convolve_depthwise_planes(KernelContext& context, const Convolution& convolution, float* scratch,
                               size_t threads);

}  // namespace rushlight::kernels::host
