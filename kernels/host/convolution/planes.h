// SPDX-License-Identifier: BSD-3-Clause
// Convolutions in any layout, best for channels-first: matrix products of the weights, which are read as
// stored, with im2col panels of adjacent outputs.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Bytes of scratch memory for each thread. convolve_planes() computes any convolution, whatever its strides
// and phases.
[[nodiscard]] size_t planes_scratch_size(const Convolution& convolution);

// `scratch` is for `threads` threads; if these are fewer than the context's, one thread does all the work.
void convolve_planes(KernelContext& context, const Convolution& convolution, float* scratch, size_t threads);

}  // namespace rushlight::kernels::host
