// SPDX-License-Identifier: BSD-3-Clause
// Channels-last convolutions as in rows.h, for long lines of outputs that see no padding in their rows:
// pointwise convolutions, those without padding, and images with a border (border.h). One call of the
// microkernel computes a line, so no pointers are needed for each pixel.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// True if the outputs of the phase form such lines.
[[nodiscard]] bool has_strips(const Phase& phase);

// `packed` points to the panels of the phase. Precondition: has_strips(). Needs no scratch memory.
void convolve_strips(KernelContext& context, const Convolution& convolution, const Phase& phase,
                     const float* packed);

}  // namespace rushlight::kernels::host
