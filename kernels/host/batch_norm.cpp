// SPDX-License-Identifier: BSD-3-Clause
// Batch normalization as one multiply-add for each element, with the scales of 32 channels at a time on the
// stack.
//
//   y = x * scale + shift    scale = weight / sqrt(var + eps)    shift = bias - mean * scale
#include <cmath>
#include <optional>

#include "kernels/backs/norm.h"
#include "kernels/host/channel_scale.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kTile = 32;  // channels in a block

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

// Folds the statistics of n channels from `first` on into scales and shifts.
void make_scales(const Statistics& statistics, size_t first, size_t n, float* scale, float* shift) {
  for (size_t i = 0; i < n; ++i) {
    const size_t c = first + i;
    scale[i] = 1.0f / std::sqrt(statistics.var[c] + statistics.eps);
    if (statistics.weight != nullptr) scale[i] *= statistics.weight[c];
    shift[i] = (statistics.bias == nullptr ? 0.0f : statistics.bias[c]) - statistics.mean[c] * scale[i];
  }
}

}  // namespace

Error batch_norm(KernelContext& context, const BatchNormProblem& problem) {
  const Tensor& input = problem.input;
  const Tensor& out = problem.out;
  if (input.numel() == 0) return Error::Ok;
  const NormalizationParameters& parameters = problem.parameters;
  const Statistics statistics{problem.running_mean.const_data_ptr<float>(),
                              problem.running_var.const_data_ptr<float>(), floats_of(parameters.weight),
                              floats_of(parameters.bias), static_cast<float>(parameters.eps)};
  // Batch and positions are one walk for all channels of a block.
  const ChannelAxes axes(input, out, 0);
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
      // The first channel of the block; strides are in bytes.
      const auto skipped = static_cast<ptrdiff_t>(first);
      scale_channels(axes, n, input.const_data_ptr<char>() + skipped * axes.channel.input,
                     out.mutable_data_ptr<char>() + skipped * axes.channel.output, scale, shift);
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
