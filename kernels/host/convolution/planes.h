// SPDX-License-Identifier: BSD-3-Clause
// Convolutions in any layout, best where channels come first: products of weights, which are read where they
// lie, and panels in which the inputs that neighbouring outputs see are gathered.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Bytes of scratch that each thread takes.
[[nodiscard]] size_t planes_scratch_size(const Convolution& convolution);

// `scratch` is for that many threads; with fewer than the context has only one works.
void convolve_planes(KernelContext& context, const Convolution& convolution, float* scratch, size_t threads);

}  // namespace rushlight::kernels::host
