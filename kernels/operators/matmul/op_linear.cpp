// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/linear.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::linear.out");

}  // namespace

// input weight^T + bias: input [..., depth], weight [features, depth], bias [features].
Error linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const std::optional<Tensor>& bias, Tensor& out) {
  const LinearProblem problem{input, weight, bias, out};
  Shape shape;
  RL_TRY(linear_shape(problem, kTypes, &shape));
  RL_TRY(resize_out(out, shape.span()));
  return backs::linear_out(context, problem, [&] { return multiply_linear(problem); });
}

Error linear_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, Tensor& out) {
  const LinearProblem problem{input, weight, bias, out};
  Shape shape;
  if (linear_shape(problem, kTypes, &shape) != Error::Ok || !has_sizes(out, shape.span())) {
    return Error::Ok;  // the call itself reports errors
  }
  return backs::linear_out_prepare(context, problem);
}

}  // namespace rushlight::kernels
