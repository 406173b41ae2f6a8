// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/quantized_average.h"

#include "kernels/int8/average.h"

namespace rushlight::kernels::board {

Error quantized_mean(KernelContext&, const QuantizedMeanProblem& problem) {
  average_int8(problem, 0, lines_of(problem));
  return Error::Ok;
}

Error quantized_avg_pool2d(KernelContext&, const QuantizedAveragePoolProblem& problem) {
  average_int8(problem, 0, lines_of(problem));
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
