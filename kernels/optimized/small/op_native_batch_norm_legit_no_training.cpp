// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/shared/batch_norm.h"
#include "kernels/ukernel/runs.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error _native_batch_norm_legit_no_training_out(KernelContext& context, const Tensor& input,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& bias, const Tensor& running_mean,
                                               const Tensor& running_var, double momentum, double eps,
                                               Tensor& out0, Tensor& out1, Tensor& out2);

namespace optimized {

namespace {

void scale(char* to, const char* from, const PairedLoops::Loop& loop, float factor, float offset) {
  constexpr auto kAdjacent = static_cast<ptrdiff_t>(sizeof(float));
  if (loop.target == kAdjacent && loop.source == kAdjacent) {
    return ukernel::scale_run(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from),
                              static_cast<size_t>(loop.size), factor, offset);
  }
  for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source) {
    *reinterpret_cast<float*>(to) = *reinterpret_cast<const float*>(from) * factor + offset;
  }
}

}  // namespace

// As PyTorch has it on the CPU: what a channel is multiplied by and what is added are made first.
Error _native_batch_norm_legit_no_training_out(KernelContext& context, const Tensor& input,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& bias, const Tensor& running_mean,
                                               const Tensor& running_var, double momentum, double eps,
                                               Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::_native_batch_norm_legit_no_training.out");
  if (!all_of(kTypes, input, out0)) {
    RL_FALL_BACK("aten::_native_batch_norm_legit_no_training.out", _native_batch_norm_legit_no_training_out,
                 context, input, weight, bias, running_mean, running_var, momentum, eps, out0, out1, out2);
  }
  const NormalizationParameters parameters{weight, bias, eps};
  RL_TRY(check_batch_norm(input, parameters, running_mean, running_var));
  RL_TRY(prepare_batch_norm_outs(input, 0, out0, out1, out2));
  const ptrdiff_t channels = input.sizes()[1];
  if (channels == 0) return Error::Ok;
  View source = View::of(input);
  View target = View::of(out0);
  const ptrdiff_t from_step = source.strides[1];
  const ptrdiff_t to_step = target.strides[1];
  // Channels differ in where they begin only.
  const PairedLoops loops(target.select(1, 0), source.select(1, 0));
  for (ptrdiff_t c = 0; c < channels; ++c) {
    const Moments<float> moments = running_moments<float>(running_mean, running_var, c, eps);
    const float factor = weight ? moments.rstd * channel_number<float>(*weight, c) : moments.rstd;
    const float offset = (bias ? channel_number<float>(*bias, c) : 0) - moments.mean * factor;
    loops.for_each_run([&](char* to, const char* from, const PairedLoops::Loop& loop) {
      scale(to + c * to_step, from + c * from_step, loop, factor, offset);
    });
  }
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
