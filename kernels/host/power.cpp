// SPDX-License-Identifier: BSD-3-Clause
// Powers, and logarithms of sums of powers. Small integer exponents multiply repeatedly; 0.5 and -0.5 use
// sqrt.
#include "kernels/backs/elementwise.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elementwise.h"
#include "kernels/ukernel/vector_math.h"
#include "kernels/ukernel/wide_math.h"

namespace rushlight::kernels::host {

Error power(KernelContext& context, const BinaryProblem& problem) {
  return elementwise_in_float(context, problem.out, ukernel::pow_f32, problem.a, problem.b);
}

Error log_add(KernelContext& context, const BinaryProblem& problem) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (problem.compute == ScalarType::Double)
      return elementwise(context, problem.out, of_pairs<double>(ukernel::log_add_f64), problem.a, problem.b);
  }
  return elementwise_in_float(context, problem.out, ukernel::log_add_f32, problem.a, problem.b);
}

Error log2_add(KernelContext& context, const BinaryProblem& problem) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (problem.compute == ScalarType::Double)
      return elementwise(context, problem.out, of_pairs<double>(ukernel::log2_add_f64), problem.a, problem.b);
  }
  return elementwise_in_float(context, problem.out, ukernel::log2_add_f32, problem.a, problem.b);
}

Error power_of_elements(KernelContext& context, const PowerProblem& problem) {
  const Tensor& self = problem.self;
  const Tensor& out = problem.out;
  const float y = problem.number;
  // Cheaper microkernels for common exponents; all others take the general power. PyTorch takes no roots of
  // float16: sqrt gives other results for -0 and -infinity.
  const bool takes_roots = self.scalar_type() != ScalarType::Half;
  if (y == 2) return elementwise_in_float(context, out, of_each(ukernel::square_f32), self);
  if (y == 3) return elementwise_in_float(context, out, of_each(ukernel::cube_f32), self);
  if (takes_roots && y == 0.5f) return elementwise_in_float(context, out, of_each(ukernel::sqrt_f32), self);
  if (takes_roots && y == -0.5f) return elementwise_in_float(context, out, of_each(ukernel::rsqrt_f32), self);
  if (y == -1) return elementwise_in_float(context, out, of_each(ukernel::reciprocal_f32), self);
  const auto raise = [y](size_t n, const float* x, float* to) { ukernel::power_of_f32(n, x, y, to); };
  return elementwise_in_float(context, out, of_each(raise), self);
}

Error power_of_scalar(KernelContext& context, const PowerProblem& problem) {
  const auto raise = [base = problem.number](size_t n, const float* x, float* to) {
    ukernel::exponential_f32(n, x, base, to);
  };
  return elementwise_in_float(context, problem.out, of_each(raise), problem.self);
}

}  // namespace rushlight::kernels::host
