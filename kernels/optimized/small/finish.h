// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/shared/activation.h"

namespace rushlight::kernels::optimized {

// As add_and_activate() of kernels/shared; quick for sums and clamps of float32 in one layout.
void finish(const std::optional<Tensor>& residual, const Activation& activation, const Tensor& out);

}  // namespace rushlight::kernels::optimized
