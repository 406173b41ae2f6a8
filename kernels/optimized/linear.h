// SPDX-License-Identifier: BSD-3-Clause
// Linear layers, alone or with what comes after them.
#pragma once

#include <optional>

#include "kernels/shared/activation.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::optimized {

struct Linear {
  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  const std::optional<Tensor>& residual;
  Activation activation;
};

// Of tensors that were checked, of one of the dtypes of gemm.h.
[[nodiscard]] Error compute(KernelContext& context, const Linear& linear, const Tensor& out);
void prepare(KernelContext& context, const Linear& linear, const Tensor& out);

}  // namespace rushlight::kernels::optimized
