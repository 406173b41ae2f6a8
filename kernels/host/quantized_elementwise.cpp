// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/quantized_elementwise.h"

#include "kernels/host/elementwise.h"
#include "kernels/ukernel/int8_elementwise.h"

namespace rushlight::kernels::host {

// Dequantize, compute and requantize are one integer step of the microkernel; threads, broadcasting and
// strides are the elementwise walk's.
Error quantized_add(KernelContext& context, const QuantizedAddProblem& problem) {
  const auto add = [&](const ukernel::Rows& rows) { ukernel::add_int8(rows, problem.sum); };
  return elementwise(context, problem.out, add, problem.self, problem.other);
}

Error rescaled_add(KernelContext& context, const RescaledAddProblem& problem) {
  const auto add = [&](const ukernel::Rows& rows) { ukernel::add_rescaled_int8(rows, problem.sum); };
  return elementwise(context, problem.out, add, problem.self, problem.other);
}

Error quantized_mul(KernelContext& context, const QuantizedMulProblem& problem) {
  const auto multiply = [&](const ukernel::Rows& rows) {
    ukernel::multiply_int8_pairs(rows, problem.product);
  };
  return elementwise(context, problem.out, multiply, problem.self, problem.other);
}

}  // namespace rushlight::kernels::host
