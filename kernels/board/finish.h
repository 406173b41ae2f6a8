// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/matmul/activation.h"

namespace rushlight::kernels::board {

// Whether it is what rectify_span() of kernels/ukernel does.
[[nodiscard]] inline bool is_rectifier(const Activation& activation) {
  return activation.kind == ActivationKind::kClamp && activation.low == 0 &&
         activation.high == __builtin_inf();
}

// As add_and_activate() of kernels/matmul; quick for sums and clamps of float32 in one layout.
void finish(const std::optional<Tensor>& residual, const Activation& activation, const Tensor& out);

// The same of add_and_clamp().
void finish_clamp(const std::optional<Tensor>& residual, const Activation& clamp, const Tensor& out);

}  // namespace rushlight::kernels::board
