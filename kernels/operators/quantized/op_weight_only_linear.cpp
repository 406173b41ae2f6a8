// SPDX-License-Identifier: BSD-3-Clause
// A linear layer in float32 whose weight stays integers of 8 or 4 bits, with one multiplication by the scale
// for each group. The portable code converts each weight as it multiplies it, depth conversions for every
// output: no scratch for a row.
#include "kernels/backs/backs.h"
#include "kernels/backs/grouped_linear.h"
#include "kernels/checks/checks.h"
#include "kernels/quantization/grouped_weight.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::weight_only_linear.out");

// The product of an input row and the weights of one feature, each group scaled once.
float dot(const GroupedWeight& weight, size_t feature, const float* input, ptrdiff_t step) {
  float total = 0;
  for (size_t g = 0, k = 0; g < weight.form.groups; ++g) {
    float sum = 0;
    for (size_t i = 0; i < weight.form.group; ++i, ++k, input += step) {
      sum += *input * static_cast<float>(weight.number(feature, k));
    }
    total += weight.scale(feature, g) * sum;
  }
  return total;
}

// Rows of any layout: only the last dimension is a row.
void multiply(const WeightOnlyLinearProblem& problem) {
  const size_t last = problem.input.sizes().size() - 1;
  const ptrdiff_t step = problem.input.strides()[last], out_step = problem.out.strides()[last];
  View source = View::of(problem.input), target = View::of(problem.out);
  PairedLoops(target.select(last, 0), source.select(last, 0))
      .for_each_span([&](char* to, const char* from, const auto& rows) {
        for (ptrdiff_t i = 0; i < rows.size; ++i, to += rows.target, from += rows.source) {
          const auto* input = reinterpret_cast<const float*>(from);
          auto* out = reinterpret_cast<float*>(to);
          for (size_t j = 0; j < problem.weight.features; ++j, out += out_step) {
            *out = dot(problem.weight, j, input, step) + (problem.bias == nullptr ? 0.0F : problem.bias[j]);
          }
        }
      });
}

}  // namespace

Error weight_only_linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                             const Tensor& weight_scales, const std::optional<Tensor>& bias, Tensor& out) {
  GroupedWeight made;
  Shape shape;
  RL_TRY(plan_grouped_linear(kTypes, input, weight, weight_scales, bias, &made, &shape));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_TRY(resize_out(out, shape.span()));
  const float* addend = bias ? bias->const_data_ptr<float>() : nullptr;
  const WeightOnlyLinearProblem problem{input, made, weight, weight_scales, addend, out};
  return backs::weight_only_linear_out(context, problem, [&] {
    multiply(problem);
    return Error::Ok;
  });
}

// The bias is not needed to pack weights.
Error weight_only_linear_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                     const Tensor& weight_scales, const std::optional<Tensor>& bias,
                                     Tensor& out) {
  GroupedWeight made;
  Shape shape;
  const Error checked = plan_grouped_linear(kTypes, input, weight, weight_scales, bias, &made, &shape);
  if (checked != Error::Ok || !has_sizes(out, shape.span())) return Error::Ok;  // left to the call
  const WeightOnlyLinearProblem problem{input, made, weight, weight_scales, nullptr, out};
  return backs::weight_only_linear_out_prepare(context, problem);
}

}  // namespace rushlight::kernels
