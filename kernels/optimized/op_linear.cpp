// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/linear.h"
#include "kernels/shared/linear.h"

namespace rushlight::kernels {

Error linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const std::optional<Tensor>& bias, Tensor& out);

namespace optimized {

namespace {

constexpr TypeSet kTypes = selected_types("aten::linear.out");

bool are_fast(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const Tensor& out) {
  return all_of(kTypes, input, weight, out) && (!bias || bias->scalar_type() == input.scalar_type());
}

}  // namespace

Error linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const std::optional<Tensor>& bias, Tensor& out) {
  if (!are_fast(input, weight, bias, out)) {
    RL_FALL_BACK("aten::linear.out", linear_out, context, input, weight, bias, out);
  }
  Shape shape;
  RL_TRY(linear_shape(input, weight, bias, out, &shape));
  RL_TRY(resize_out(out, shape.span()));
  return compute(context, {input, weight, bias, std::nullopt, {}}, out);
}

Error linear_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, Tensor& out) {
  Shape shape;
  if (!are_fast(input, weight, bias, out) || linear_shape(input, weight, bias, out, &shape) != Error::Ok ||
      !has_sizes(out, shape.span())) {
    return Error::Ok;  // an error is the call's
  }
  prepare(context, {input, weight, bias, std::nullopt, {}}, out);
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
