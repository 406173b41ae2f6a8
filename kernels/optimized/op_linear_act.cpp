// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/linear.h"
#include "kernels/shared/linear.h"

namespace rushlight::kernels {

Error linear_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                     std::string_view activation, double low, double high, Tensor& out);
Error linear_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                           double low, double high, Tensor& out);

namespace optimized {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::linear_act.out");
constexpr TypeSet kClampTypes = selected_types("rushlight::linear_act.clamp_out");

bool are_fast(TypeSet types, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const std::optional<Tensor>& residual, const Tensor& out) {
  return all_of(types, input, weight, out) && (!bias || bias->scalar_type() == input.scalar_type()) &&
         (!residual || residual->scalar_type() == input.scalar_type());
}

Error check_and_compute(KernelContext& context, const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                        const Activation& last, Tensor& out) {
  Shape shape;
  RL_TRY(linear_shape(input, weight, bias, out, &shape));
  RL_TRY(check_residual(residual, input, shape.span()));
  RL_TRY(resize_out(out, shape.span()));
  return compute(context, {input, weight, bias, residual, last}, out);
}

// An error is the call's.
void prepare_fast(KernelContext& context, const Tensor& input, const Tensor& weight,
                  const std::optional<Tensor>& bias, const std::optional<Tensor>& residual, Tensor& out) {
  Shape shape;
  if (linear_shape(input, weight, bias, out, &shape) != Error::Ok ||
      check_residual(residual, input, shape.span()) != Error::Ok || !has_sizes(out, shape.span())) {
    return;
  }
  prepare(context, {input, weight, bias, residual, {}}, out);
}

}  // namespace

Error linear_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                     std::string_view activation, double low, double high, Tensor& out) {
  if (!are_fast(kTypes, input, weight, bias, residual, out)) {
    RL_FALL_BACK("rushlight::linear_act.out", linear_act_out, context, input, weight, bias, residual,
                 activation, low, high, out);
  }
  Activation last;
  RL_TRY(make_activation(activation, low, high, &last));
  return check_and_compute(context, input, weight, bias, residual, last, out);
}

Error linear_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                           double low, double high, Tensor& out) {
  if (!are_fast(kClampTypes, input, weight, bias, residual, out)) {
    RL_FALL_BACK("rushlight::linear_act.clamp_out", linear_act_clamp_out, context, input, weight, bias,
                 residual, low, high, out);
  }
  return check_and_compute(context, input, weight, bias, residual, make_clamp(low, high), out);
}

Error linear_act_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                             std::string_view, double, double, Tensor& out) {
  if (are_fast(kTypes, input, weight, bias, residual, out)) {
    prepare_fast(context, input, weight, bias, residual, out);
  }
  return Error::Ok;
}

Error linear_act_clamp_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                                   double, double, Tensor& out) {
  if (are_fast(kClampTypes, input, weight, bias, residual, out)) {
    prepare_fast(context, input, weight, bias, residual, out);
  }
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
