// SPDX-License-Identifier: BSD-3-Clause
// Batch normalization as one multiply-add for each element, with the scales of 32 channels at a time on the
// stack.
//
//   y = x * scale + shift    scale = weight / sqrt(var + eps)    shift = bias - mean * scale
#include <algorithm>
#include <cmath>

#include "kernels/backs/norm.h"
#include "kernels/host/channel_scale.h"
#include "kernels/host/elements.h"

namespace rushlight::kernels::host {

namespace {

// Folds the statistics of n <= kChannelTile channels from `first` on into scales and shifts. The statistics
// of 16-bit inputs have the dtype of the input or float32.
void make_scales(const BatchNormProblem& problem, size_t first, size_t n, float* scale, float* shift) {
  const auto load = [&](const Tensor& tensor, float* to) {
    load_floats(to, tensor.scalar_type(), tensor.const_data_ptr<char>() + first * tensor.element_size(), 1,
                n);
  };
  const auto eps = static_cast<float>(problem.parameters.eps);
  float values[kChannelTile];
  load(problem.running_var, values);
  for (size_t i = 0; i < n; ++i) scale[i] = 1.0f / std::sqrt(values[i] + eps);
  if (problem.parameters.weight) {
    load(*problem.parameters.weight, values);
    for (size_t i = 0; i < n; ++i) scale[i] *= values[i];
  }
  std::fill_n(shift, n, 0.0f);
  if (problem.parameters.bias) load(*problem.parameters.bias, shift);
  load(problem.running_mean, values);
  for (size_t i = 0; i < n; ++i) shift[i] -= values[i] * scale[i];
}

}  // namespace

Error batch_norm(KernelContext& context, const BatchNormProblem& problem) {
  const Tensor& input = problem.input;
  const Tensor& out = problem.out;
  if (input.numel() == 0) return Error::Ok;
  // Batch and positions are one walk for all channels of a block.
  const ChannelAxes axes(input, out, 0);
  const size_t channels = axes.channel.size;
  const size_t tiles = (channels + kChannelTile - 1) / kChannelTile;
  constexpr size_t kElements = 32768;  // worth another thread
  const size_t grain = kElements / (kChannelTile * axes.others.count() + 1) + 1;
  context.parallel_for(tiles, grain, [&](size_t begin, size_t end, size_t) {
    for (size_t tile = begin; tile < end; ++tile) {
      const size_t first = tile * kChannelTile;
      const size_t n = channels - first < kChannelTile ? channels - first : kChannelTile;
      float scale[kChannelTile];
      float shift[kChannelTile];
      make_scales(problem, first, n, scale, shift);
      // The first channel of the block; strides are in bytes.
      const auto skipped = static_cast<ptrdiff_t>(first);
      scale_channels(axes, n, input.const_data_ptr<char>() + skipped * axes.channel.input,
                     out.mutable_data_ptr<char>() + skipped * axes.channel.output, scale, shift);
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
