// SPDX-License-Identifier: BSD-3-Clause
// An integer LSTM layer in one direction, over all steps; integer_recurrent.h describes the arithmetic. input
// [steps, batch, features], out0 [steps, batch, units], out1 the last 16-bit cell state.
#include "kernels/backs/backs.h"
#include "kernels/backs/quantized_recurrent.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/integer_recurrent.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error quantized_lstm_out(KernelContext& context, const Tensor& input, const Tensor& hidden,
                         const Tensor& cell, const Tensor& weight, const Tensor& hidden_weight,
                         const Tensor& multipliers, const Tensor& hidden_multipliers, const Tensor& bias,
                         int64_t shift, const Tensor& tables, int64_t cell_bits, int64_t output_multiplier,
                         int64_t output_shift, int64_t output_zero_point, int64_t output_min,
                         int64_t output_max, bool reverse, Tensor& out0, Tensor& out1) {
  constexpr TypeSet kTypes = selected_types("rushlight::quantized_lstm.out");
  const IntegerRecurrent layer = {input,
                                  hidden,
                                  cell,
                                  weight,
                                  hidden_weight,
                                  multipliers,
                                  hidden_multipliers,
                                  bias,
                                  shift,
                                  tables,
                                  cell_bits,
                                  output_multiplier,
                                  output_shift,
                                  output_zero_point,
                                  output_min,
                                  output_max,
                                  reverse,
                                  out0,
                                  out1};
  RecurrentSizes sizes;
  RecurrentParameters numbers;
  RL_TRY(plan_recurrent(layer, LstmCell::kGates, kTypes, &sizes, &numbers));
  return backs::quantized_lstm_out(context, QuantizedRecurrentProblem{layer, sizes, numbers}, [&] {
    // The gates are input, forget, candidate and output. plan_recurrent() has proven that no intermediate
    // overflows.
    run_recurrent<LstmCell>(layer, sizes, numbers, multiply_rows);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
