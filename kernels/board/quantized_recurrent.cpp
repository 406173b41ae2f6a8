// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/quantized_recurrent.h"

#include "kernels/int8/recurrent_in_place.h"

namespace rushlight::kernels::board {

std::optional<Error> quantized_lstm(KernelContext&, const QuantizedRecurrentProblem& problem) {
  return run_recurrent_in_place<LstmCell>(problem);
}

std::optional<Error> quantized_gru(KernelContext&, const QuantizedRecurrentProblem& problem) {
  return run_recurrent_in_place<GruCell>(problem);
}

}  // namespace rushlight::kernels::board
