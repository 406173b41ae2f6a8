// SPDX-License-Identifier: BSD-3-Clause
// Activations of freshly computed float32 results that are still in the cache, by vector microkernels. Clamps
// need no pass: the product's tile applies them to sums in registers.
#pragma once

#include <cstddef>

#include "kernels/checks/selected_calls.h"
#include "kernels/matmul/activation.h"

namespace rushlight::kernels::host {

// True if a call of the build names an activation; calls that clamp have bounds instead of a name.
inline constexpr bool kReachesActivations = is_reached_through(
    "kernels/host/activate", [](const SelectedCall& call) { return call.has("activation"); });

// True if the tile of kernels/ukernel/gemm.h applies this activation through its bounds.
[[nodiscard]] inline bool is_clamp(const Activation& activation) {
  return activation.kind == ActivationKind::kNone || activation.kind == ActivationKind::kClamp;
}

// x[i] = activation(x[i]) for n floats, in place.
void activate(const Activation& activation, float* x, size_t n);

}  // namespace rushlight::kernels::host
