// SPDX-License-Identifier: BSD-3-Clause
// Activations of sums that were just computed and are still in the cache.
#pragma once

#include <cstddef>

#include "kernels/matmul/activation.h"

namespace rushlight::kernels::host {

// Whether a tile of kernels/ukernel/gemm.h does it by its bounds.
[[nodiscard]] inline bool is_clamp(const Activation& activation) {
  return activation.kind == ActivationKind::kNone || activation.kind == ActivationKind::kClamp;
}

// Replaces n floats by what the activation makes of them.
void activate(const Activation& activation, float* x, size_t n);

}  // namespace rushlight::kernels::host
