// SPDX-License-Identifier: BSD-3-Clause
// Elementwise maximum, minimum, selection, interpolation and clamp to tensors.
#include "kernels/backs/elementwise.h"
#include "kernels/host/elementwise.h"

namespace rushlight::kernels::host {

Error maximum(KernelContext& context, const BinaryProblem& problem) {
  return elementwise_in_float(context, problem.out, ukernel::maximum_f32, problem.a, problem.b);
}

Error minimum(KernelContext& context, const BinaryProblem& problem) {
  return elementwise_in_float(context, problem.out, ukernel::minimum_f32, problem.a, problem.b);
}

Error lerp(KernelContext& context, const TernaryProblem& problem) {
  return elementwise_in_float(context, problem.out, ukernel::lerp_f32, problem.a, problem.b, problem.c);
}

Error addcmul(KernelContext& context, const ScaledProductProblem& problem) {
  const auto add = [factor = problem.value](ukernel::Rows rows) {
    rows.number = factor;
    ukernel::addcmul_f32(rows);
  };
  return elementwise_in_float(context, problem.out, add, problem.a, problem.b, problem.c);
}

Error addcdiv(KernelContext& context, const ScaledProductProblem& problem) {
  const auto add = [factor = problem.value](ukernel::Rows rows) {
    rows.number = factor;
    ukernel::addcdiv_f32(rows);
  };
  return elementwise_in_float(context, problem.out, add, problem.a, problem.b, problem.c);
}

// With one bound this is a maximum or a minimum. NaN in any operand propagates.
Error clamp_to_tensors(KernelContext& context, const TensorBoundsProblem& problem) {
  const Tensor& self = problem.self;
  const Tensor& out = problem.out;
  if (problem.high == nullptr)
    return elementwise_in_float(context, out, ukernel::maximum_f32, self, *problem.low);
  if (problem.low == nullptr)
    return elementwise_in_float(context, out, ukernel::minimum_f32, self, *problem.high);
  return elementwise_in_float(context, out, ukernel::clamp_rows_f32, self, *problem.low, *problem.high);
}

Error select(KernelContext& context, const SelectProblem& problem) {
  // Selection moves elements by size, so it needs one microkernel for each size, not dtype.
  const auto function = where_of(problem.out.element_size());
  return elementwise(context, problem.out, function, problem.condition, problem.a, problem.b);
}

}  // namespace rushlight::kernels::host
