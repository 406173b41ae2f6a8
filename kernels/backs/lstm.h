// SPDX-License-Identifier: BSD-3-Clause
// The problem of an LSTM layer, and its back.
#pragma once

#include "kernels/matmul/lstm.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// All tensors have one dtype; the results have their shapes.
struct LstmProblem {
  const Lstm& layer;
  const LstmSizes& sizes;

  [[nodiscard]] ScalarType type() const { return layer.gates.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// lstm.cpp: float32.
Error lstm(KernelContext& context, const LstmProblem& problem);
Error lstm_prepare(KernelContext& context, const LstmProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
