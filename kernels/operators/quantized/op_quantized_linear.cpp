// SPDX-License-Identifier: BSD-3-Clause
// A linear layer of integers: dequantize, linear, clamp and quantize fused. input [..., depth], weight
// [features, depth], out [..., features]. The bias is folded as in quantized_convolution.
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/quantization/integer_linear.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_linear.out") & kQuantizedElements;

}  // namespace

Error quantized_linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const Tensor& multipliers,
                           const std::optional<Tensor>& shifts, std::string_view rounding,
                           int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  ukernel::Requantization to;
  const QuantizedLinearProblem problem{{input, weight, bias, out, 0, to}};
  Shape shape;
  RL_TRY(plan_linear(problem, kTypes, &shape));
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(make_requantization(
      {bias, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}}, out,
      static_cast<size_t>(weight.size(0)), static_cast<size_t>(weight.size(1)), &to));
  return backs::quantized_linear_out(context, problem, [&] { return multiply_integers(problem); });
}

Error quantized_linear_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& bias, const Tensor&,
                                   const std::optional<Tensor>&, std::string_view, int64_t, int64_t, int64_t,
                                   Tensor& out) {
  const ukernel::Requantization none;
  const QuantizedLinearProblem problem{{input, weight, bias, out, 0, none}};
  Shape shape;
  const bool fits = plan_linear(problem, kTypes, &shape) == Error::Ok && has_sizes(out, shape.span());
  if (!fits) return Error::Ok;  // the call itself reports errors
  return backs::quantized_linear_out_prepare(context, problem);
}

}  // namespace rushlight::kernels
