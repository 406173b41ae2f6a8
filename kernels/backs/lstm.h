// SPDX-License-Identifier: BSD-3-Clause
// The problem of an LSTM layer, and its back. Lstm defines the recurrence.
#pragma once

#include "kernels/matmul/lstm.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// All tensors have one dtype; the results have their shapes. The gates already contain the products of the
// inputs, so only the hidden state is multiplied here, step by step.
struct LstmProblem {
  const Lstm& layer;
  const LstmSizes& sizes;

  [[nodiscard]] ScalarType type() const { return layer.gates.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// lstm.cpp: float32, float16 and bfloat16. Takes every layout, but only row-major tensors fast. Large batches
// pack the weight (at load if it is constant) and use scratch memory for the products; without it they take
// the method of small batches.
Error lstm(KernelContext& context, const LstmProblem& problem);
Error lstm_prepare(KernelContext& context, const LstmProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
