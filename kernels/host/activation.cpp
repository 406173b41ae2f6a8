// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions with parameters.
#include "kernels/backs/elementwise.h"
#include "kernels/host/elementwise.h"
#include "kernels/ukernel/vector_math.h"

namespace rushlight::kernels::host {

Error gelu(KernelContext& context, const GeluProblem& problem) {
  const auto function = problem.with_tanh ? ukernel::gelu_tanh_f32 : ukernel::gelu_f32;
  return elementwise_in_float(context, problem.out, of_each(function), problem.self);
}

Error leaky_relu(KernelContext& context, const LeakyReluProblem& problem) {
  const auto leak = [slope = problem.slope](size_t n, const float* x, float* y) {
    ukernel::leaky_relu_f32(n, x, slope, y);
  };
  return elementwise_in_float(context, problem.out, of_each(leak), problem.self);
}

Error elu(KernelContext& context, const EluProblem& problem) {
  const float positive = problem.scale;
  const auto function = [positive, negative = problem.alpha * positive, inner = problem.input_scale](
                            size_t n, const float* x, float* y) {
    ukernel::elu_f32(n, x, positive, negative, inner, y);
  };
  return elementwise_in_float(context, problem.out, of_each(function), problem.self);
}

Error softplus(KernelContext& context, const SoftplusProblem& problem) {
  const auto function = [beta = problem.beta, threshold = problem.threshold](size_t n, const float* x,
                                                                             float* y) {
    ukernel::softplus_f32(n, x, beta, threshold, y);
  };
  return elementwise_in_float(context, problem.out, of_each(function), problem.self);
}

Error clamp(KernelContext& context, const BoundsProblem& problem) {
  const auto bound = [low = problem.low, high = problem.high](size_t n, const float* x, float* y) {
    ukernel::clamp_f32(n, x, low, high, y);
  };
  return elementwise_in_float(context, problem.out, of_each(bound), problem.self);
}

}  // namespace rushlight::kernels::host
