// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>

#include "kernels/optimized/channel_scale.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/batch_norm.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error _native_batch_norm_legit_no_training_out(KernelContext& context, const Tensor& input,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& bias, const Tensor& running_mean,
                                               const Tensor& running_var, double momentum, double eps,
                                               Tensor& out0, Tensor& out1, Tensor& out2);

namespace optimized {

namespace {

constexpr size_t kTile = 32;  // channels at a time

struct Statistics {
  const float* mean;
  const float* var;
  const float* weight;
  const float* bias;
  float eps;
};

const float* floats_of(const std::optional<Tensor>& tensor) {
  return tensor ? tensor->const_data_ptr<float>() : nullptr;
}

// What the channels from `first` on are scaled by, and what is added to them.
void make_scales(const Statistics& statistics, size_t first, size_t n, float* scale, float* shift) {
  for (size_t i = 0; i < n; ++i) {
    const size_t c = first + i;
    scale[i] = 1.0f / std::sqrt(statistics.var[c] + statistics.eps);
    if (statistics.weight != nullptr) scale[i] *= statistics.weight[c];
    shift[i] = (statistics.bias == nullptr ? 0.0f : statistics.bias[c]) - statistics.mean[c] * scale[i];
  }
}

}  // namespace

// out1 and out2, which training would save its statistics in, become empty.
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
  if (input.numel() == 0) return Error::Ok;
  const Statistics statistics{running_mean.const_data_ptr<float>(), running_var.const_data_ptr<float>(),
                              floats_of(weight), floats_of(bias), static_cast<float>(eps)};
  const ChannelAxes axes(input, out0, 0);
  const size_t channels = axes.channel.size;
  const size_t tiles = (channels + kTile - 1) / kTile;
  constexpr size_t kElements = 32768;  // worth another thread
  const size_t grain = kElements / (kTile * axes.others.count() + 1) + 1;
  context.parallel_for(tiles, grain, [&](size_t begin, size_t end, size_t) {
    for (size_t tile = begin; tile < end; ++tile) {
      const size_t first = tile * kTile;
      const size_t n = channels - first < kTile ? channels - first : kTile;
      float scale[kTile];
      float shift[kTile];
      make_scales(statistics, first, n, scale, shift);
      const auto skipped = static_cast<ptrdiff_t>(first);
      scale_channels(axes, n, input.const_data_ptr<char>() + skipped * axes.channel.input,
                     out0.mutable_data_ptr<char>() + skipped * axes.channel.output, scale, shift);
    }
  });
  return Error::Ok;
}

}  // namespace optimized

}  // namespace rushlight::kernels
