// SPDX-License-Identifier: BSD-3-Clause
// Applies residual and activation to a finished float32 result, in place: the tail of operators whose
// microkernel does not fuse them.
#pragma once

#include "kernels/matmul/activation.h"

namespace rushlight::kernels::board {

// True if the activation is relu, which rectify_span() of kernels/ukernel computes.
[[nodiscard]] inline bool is_rectifier(const Activation& activation) {
  return activation.kind == ActivationKind::kClamp && activation.low == 0 &&
         activation.high == __builtin_inf();
}

// out = activation(out + residual), as add_and_activate() of kernels/matmul. Clamps, and sums of tensors with
// equal strides, go through the span microkernels.
void finish(const std::optional<Tensor>& residual, const Activation& activation, const Tensor& out);

// The same for a clamp or no activation, as add_and_clamp(): linking it does not link the other activations.
void finish_clamp(const std::optional<Tensor>& residual, const Activation& clamp, const Tensor& out);

}  // namespace rushlight::kernels::board
