// SPDX-License-Identifier: BSD-3-Clause
// A linear layer of integers: dequantize, linear, clamp and quantize in one. The bias is as that of
// quantized_convolution.
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_linear.out") & kQuantizedNumbers;

Error check_and_plan(const QuantizedLinearProblem& problem, Shape* shape) {
  const Tensor& input = problem.input;
  const Tensor& weight = problem.weight;
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(check_same_dtype(input, problem.out, "input and out"));
  RL_CHECK(weight.scalar_type() == ScalarType::Char, Error::InvalidType,
           "weight: expected dtype int8, got %s", to_string(weight.scalar_type()));
  RL_CHECK(input.dim() >= 1 && weight.dim() == 2, Error::InvalidArgument,
           "weight: expected rank 2 and an input with dimensions, got rank %d and %d",
           static_cast<int>(weight.dim()), static_cast<int>(input.dim()));
  const SizesType depth = input.sizes()[input.sizes().size() - 1];
  RL_CHECK(depth == weight.sizes()[1], Error::InvalidArgument, "weight: expected %ld input features, got %ld",
           static_cast<long>(depth), static_cast<long>(weight.sizes()[1]));
  *shape = Shape::of(input, 1);
  shape->push(weight.sizes()[0]);
  return Error::Ok;
}

template <class T>
void multiply(const QuantizedLinearProblem& problem) {
  const Tensor& weight = problem.weight;
  const size_t last = problem.input.sizes().size() - 1;
  const SizesType depth = weight.sizes()[1], features = weight.sizes()[0];
  const ptrdiff_t in_step = problem.input.strides()[last], out_step = problem.out.strides()[last];
  const auto* bias = problem.bias ? problem.bias->const_data_ptr<ProductSum<T>>() : nullptr;
  View source = View::of(problem.input), target = View::of(problem.out);
  PairedLoops(target.select(last, 0), source.select(last, 0))
      .for_each_run([&](char* to, const char* from, const auto& rows) {
        for (ptrdiff_t i = 0; i < rows.size; ++i, to += rows.target, from += rows.source) {
          const T* in = reinterpret_cast<const T*>(from);
          for (SizesType j = 0; j < features; ++j) {
            const int8_t* w = weight.const_data_ptr<int8_t>() + j * ptrdiff_t{weight.strides()[0]};
            ProductSum<T> sum = bias == nullptr ? 0 : bias[j];
            for (SizesType k = 0; k < depth; ++k)
              sum += int32_t{in[k * in_step]} * w[k * weight.strides()[1]];
            reinterpret_cast<T*>(to)[j * out_step] =
                static_cast<T>(ukernel::requantize_sum(problem.to, sum, static_cast<size_t>(j)));
          }
        }
      });
}

}  // namespace

Error quantized_linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const Tensor& multipliers,
                           const std::optional<Tensor>& shifts, std::string_view rounding,
                           int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  ukernel::Requantization to;
  const QuantizedLinearProblem problem{input, weight, bias, out, to};
  Shape shape;
  RL_TRY(check_and_plan(problem, &shape));
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(make_requantization(
      {bias, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}}, out,
      static_cast<size_t>(weight.size(0)), static_cast<size_t>(weight.size(1)), &to));
  return backs::quantized_linear_out(context, problem, [&] {
    return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
      multiply<typename decltype(type)::Element>(problem);
      return Error::Ok;
    });
  });
}

Error quantized_linear_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& bias, const Tensor&,
                                   const std::optional<Tensor>&, std::string_view, int64_t, int64_t, int64_t,
                                   Tensor& out) {
  const ukernel::Requantization none;
  const QuantizedLinearProblem problem{input, weight, bias, out, none};
  Shape shape;
  const bool fits = check_and_plan(problem, &shape) == Error::Ok && has_sizes(out, shape.span());
  if (!fits) return Error::Ok;  // an error is the call's
  return backs::quantized_linear_out_prepare(context, problem);
}

}  // namespace rushlight::kernels
