// SPDX-License-Identifier: BSD-3-Clause
// Activations of freshly computed float32 results that are still in the cache, by vector microkernels. Clamps
// need no pass: the product's tile applies them to sums in registers.
#pragma once

#include <cstddef>

#include "kernels/matmul/activation.h"

namespace rushlight::kernels::host {

// True if the tile of kernels/ukernel/gemm.h applies this activation through its bounds.
[[nodiscard]] inline bool is_clamp(const Activation& activation) {
  return activation.kind == ActivationKind::kNone || activation.kind == ActivationKind::kClamp;
}

// x[i] = activation(x[i]) for n floats, in place.
void activate(const Activation& activation, float* x, size_t n);

}  // namespace rushlight::kernels::host
