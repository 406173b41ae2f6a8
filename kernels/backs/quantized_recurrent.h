// SPDX-License-Identifier: BSD-3-Clause
// The problem of a quantized recurrent layer (LSTM, GRU), and its backs.
// kernels/quantization/integer_recurrent.h defines the arithmetic to the bit.
#pragma once

#include <optional>

#include "kernels/quantization/integer_recurrent.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The results have their shapes; the front has proven with plan_recurrent() that the scales and ranges in
// `numbers` cannot overflow.
struct QuantizedRecurrentProblem {
  static constexpr bool kDtypeIsSelected = true;

  const IntegerRecurrent& layer;
  const RecurrentSizes& sizes;
  const RecurrentParameters& numbers;

  [[nodiscard]] ScalarType type() const { return layer.type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return layer.is_in(types); }
};

// Both backs share the code in int8/. They decline tensors whose rows are not contiguous. They need no
// scratch memory, and no weights are packed.
namespace host {

// quantized_recurrent.cpp: int8
std::optional<Error> quantized_lstm(KernelContext& context, const QuantizedRecurrentProblem& problem);
std::optional<Error> quantized_gru(KernelContext& context, const QuantizedRecurrentProblem& problem);

}  // namespace host

namespace board {

// quantized_recurrent.cpp: int8
std::optional<Error> quantized_lstm(KernelContext& context, const QuantizedRecurrentProblem& problem);
std::optional<Error> quantized_gru(KernelContext& context, const QuantizedRecurrentProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
