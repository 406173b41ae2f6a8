// SPDX-License-Identifier: BSD-3-Clause
// Convolutions as in convolution_rows.h, of outputs in long lines, none of which sees beyond the ends of a
// row of the input: pointwise ones, those without padding, and those of an image with a border.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Whether outputs of the phase are such lines.
[[nodiscard]] bool has_strips(const Phase& phase);

// `packed` are the phase's panels.
void convolve_strips(KernelContext& context, const Convolution& convolution, const Phase& phase,
                     const float* packed);

}  // namespace rushlight::kernels::host
