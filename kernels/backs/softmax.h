// SPDX-License-Identifier: BSD-3-Clause
// The problem of softmax and log_softmax, and their backs. The formula is exp(x - largest) / sum of exp(x -
// largest), or its logarithm.
#pragma once

#include "kernels/walk/paired_fibers.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Each fiber of `out` (its elements along the softmax dimension) is computed from the fiber of `self` at the
// same position; `fibers` pairs the two tensors. `out` may be `self` in the same layout.
struct SoftmaxProblem {
  // `fibers` holds the addresses; the tensors are for their dtypes.
  const PairedFibers& fibers;
  const Tensor& self;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && out.scalar_type() == type();
  }
};

namespace host {

// softmax.cpp: float32, float64, and float16 and bfloat16 computed in float32 and rounded once. Any layout,
// without scratch memory; threads divide the fibers.
Error softmax(KernelContext& context, const SoftmaxProblem& problem);
Error log_softmax(KernelContext& context, const SoftmaxProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
