// SPDX-License-Identifier: BSD-3-Clause
// Batch normalization as one multiply-add for each element, with the scales of 32 channels at a time on the
// stack. The statistics are running statistics, or the batch's own.
//
//   y = x * scale + shift    scale = weight / sqrt(var + eps)    shift = bias - mean * scale
#include <algorithm>
#include <cmath>

#include "kernels/backs/norm.h"
#include "kernels/host/channel_scale.h"
#include "kernels/host/elements.h"
#include "kernels/host/float_reduction.h"
#include "kernels/normalization/running_statistics.h"

namespace rushlight::kernels::host {

namespace {

// Elements [first, first + n) of a vector with one element for each channel.
void load_channels(const Tensor& vector, size_t first, size_t n, float* to) {
  load_floats(to, vector.scalar_type(), vector.const_data_ptr<char>() + first * vector.element_size(), 1, n);
}
void store_channels(const Tensor& vector, size_t first, size_t n, const float* from) {
  store_floats(vector.mutable_data_ptr<char>() + first * vector.element_size(), 1, vector.scalar_type(), from,
               n);
}

// The scales and shifts of n <= kChannelTile channels from `first` on. On entry `scale` has 1 / sqrt(var +
// eps), and `shift` the mean. Parameters of 16-bit inputs have the dtype of the input or float32.
void apply(const NormalizationParameters& parameters, size_t first, size_t n, float* scale, float* shift) {
  float values[kChannelTile];
  if (parameters.weight) {
    load_channels(*parameters.weight, first, n, values);
    for (size_t i = 0; i < n; ++i) scale[i] *= values[i];
  }
  std::fill_n(values, n, 0.0f);
  if (parameters.bias) load_channels(*parameters.bias, first, n, values);
  for (size_t i = 0; i < n; ++i) shift[i] = values[i] - shift[i] * scale[i];
}

// Calls find(first, n, input, rstd, mean) for each block of channels, with the address of its first channel,
// then normalizes the block.
template <class F>
void normalize(KernelContext& context, const ChannelAxes& axes, const Tensor& input,
               const NormalizationParameters& parameters, const Tensor& out, F find) {
  // Batch and positions are one walk for all channels of a block.
  const size_t channels = axes.channel.size;
  const size_t tiles = (channels + kChannelTile - 1) / kChannelTile;
  constexpr size_t kElements = 32768;  // worth another thread
  const size_t grain = kElements / (kChannelTile * axes.span * axes.others.count() + 1) + 1;
  context.parallel_for(tiles, grain, [&](size_t begin, size_t end, size_t) {
    for (size_t tile = begin; tile < end; ++tile) {
      const size_t first = tile * kChannelTile;
      const size_t n = std::min(channels - first, kChannelTile);
      // Strides are in bytes.
      const auto skipped = static_cast<ptrdiff_t>(first);
      const char* const from = input.const_data_ptr<char>() + skipped * axes.channel.input;
      float scale[kChannelTile];
      float shift[kChannelTile];
      find(first, n, from, scale, shift);
      apply(parameters, first, n, scale, shift);
      scale_channels(axes, n, from, out.mutable_data_ptr<char>() + skipped * axes.channel.output, scale,
                     shift);
    }
  });
}

}  // namespace

Error batch_norm(KernelContext& context, const BatchNormProblem& problem) {
  if (problem.input.numel() == 0) return Error::Ok;
  const auto eps = static_cast<float>(problem.parameters.eps);
  normalize(context, ChannelAxes(problem.input, problem.out, 0), problem.input, problem.parameters,
            problem.out, [&](size_t first, size_t n, const char*, float* rstd, float* mean) {
              load_channels(problem.running_var, first, n, rstd);
              for (size_t i = 0; i < n; ++i) rstd[i] = 1.0f / std::sqrt(rstd[i] + eps);
              load_channels(problem.running_mean, first, n, mean);
            });
  return Error::Ok;
}

// Two more passes over a block of channels: mean, and variance about the mean. Adjacent channels are reduced
// together.
Error batch_norm_of_batch(KernelContext& context, const BatchStatisticsProblem& problem) {
  const auto eps = static_cast<float>(problem.parameters.eps);
  const ChannelAxes axes(problem.input, problem.out, 0);
  const size_t elements = axes.others.count() * axes.span;
  normalize(context, axes, problem.input, problem.parameters, problem.out,
            [&](size_t first, size_t n, const char* from, float* rstd, float* mean) {
              const auto count = static_cast<float>(elements);
              for (size_t c = 0, taken = 0; c < n; c += taken) {
                taken = std::min(axes.together(), n - c);
                const char* const x = from + static_cast<ptrdiff_t>(c) * axes.channel.input;
                float of_columns[kChannelColumns];
                const float* center = nullptr;
                for (float* const to : {mean + c, rstd + c}) {
                  float sums[kChannelColumns];
                  fold_floats<float>(center == nullptr ? Folds<float>::kSum : Folds<float>::kSquares,
                                     axes.type, axes.others, x, taken * axes.span, center, sums);
                  for (size_t i = 0; i < taken; ++i) {
                    to[i] = sums[i * axes.span];
                    for (size_t k = 1; k < axes.span; ++k) to[i] += sums[i * axes.span + k];
                    if (center == nullptr) to[i] /= count;
                  }
                  center = axes.columns(taken, mean + c, of_columns);
                }
              }
              for (size_t i = 0; i < n; ++i) {
                const float variance = rstd[i] / count;
                if (problem.running != nullptr) {
                  problem.running->update(first + i, mean[i], variance, elements);
                }
                rstd[i] = 1.0f / std::sqrt(variance + eps);
              }
              store_channels(problem.mean, first, n, mean);
              store_channels(problem.rstd, first, n, rstd);
            });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
