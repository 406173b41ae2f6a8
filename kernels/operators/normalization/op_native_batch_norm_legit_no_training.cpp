// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/normalization/batch_norm.h"

namespace rushlight::kernels {

// (x - mean) / sqrt(var + eps) * weight + bias with running statistics; weight and inverse deviation become
// one factor for each channel. Momentum is ignored: nothing is updated. out1 and out2, the saved statistics
// of training, become empty.
Error _native_batch_norm_legit_no_training_out(KernelContext& context, const Tensor& input,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& bias, const Tensor& running_mean,
                                               const Tensor& running_var, double, double eps, Tensor& out0,
                                               Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::_native_batch_norm_legit_no_training.out");
  const NormalizationParameters parameters{weight, bias, eps};
  RL_TRY(check_batch_norm(input, parameters, running_mean, running_var));
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(prepare_batch_norm_outs(input, 0, out0, out1, out2));
  const BatchNormProblem problem{input, parameters, running_mean, running_var, out0};
  return backs::_native_batch_norm_legit_no_training_out(context, problem, [&] {
    return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
      using T = typename decltype(type)::Element;
      const View source = View::of(input);
      const View target = View::of(out0);
      for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
        normalize_channel<T>(View(target).select(1, c), View(source).select(1, c),
                             running_moments<T>(running_mean, running_var, c, eps), parameters, c);
      }
      return Error::Ok;
    });
  });
}

}  // namespace rushlight::kernels
