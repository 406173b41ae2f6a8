// SPDX-License-Identifier: BSD-3-Clause
// The problem of a recurrent layer (LSTM, GRU, tanh, ReLU), and its backs. Recurrence defines it.
#pragma once

#include <optional>

#include "kernels/matmul/recurrence.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// All tensors have one dtype; the results have their shapes. The gates already contain the products of the
// inputs, so only the hidden state is multiplied here, step by step.
struct RecurrenceProblem {
  const Recurrence& layer;
  const RecurrenceSizes& sizes;

  [[nodiscard]] ScalarType type() const { return layer.gates.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// Both backs decline tensors that are not row-major. Float32 needs no scratch memory. Hosts convert 16-bit
// floats step by step, and decline them without scratch memory.
namespace host {

// recurrence.cpp. A constant weight is packed at load; other weights are read as stored, by dot products.
std::optional<Error> lstm(KernelContext& context, const RecurrenceProblem& problem);
std::optional<Error> gru(KernelContext& context, const RecurrenceProblem& problem);
std::optional<Error> rnn_tanh(KernelContext& context, const RecurrenceProblem& problem);
std::optional<Error> rnn_relu(KernelContext& context, const RecurrenceProblem& problem);
Error lstm_prepare(KernelContext& context, const RecurrenceProblem& problem);
Error gru_prepare(KernelContext& context, const RecurrenceProblem& problem);
Error rnn_tanh_prepare(KernelContext& context, const RecurrenceProblem& problem);
Error rnn_relu_prepare(KernelContext& context, const RecurrenceProblem& problem);

}  // namespace host

namespace board {

// recurrence.cpp, with the weight as stored.
std::optional<Error> lstm(KernelContext& context, const RecurrenceProblem& problem);
std::optional<Error> gru(KernelContext& context, const RecurrenceProblem& problem);
std::optional<Error> rnn_tanh(KernelContext& context, const RecurrenceProblem& problem);
std::optional<Error> rnn_relu(KernelContext& context, const RecurrenceProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
