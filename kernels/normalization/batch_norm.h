// SPDX-License-Identifier: BSD-3-Clause
// What the batch normalizations share: checks, and one channel with its statistics known.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "kernels/matmul/accumulator.h"
#include "kernels/normalization/normalization.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

// InvalidArgument unless the input has channels and the parameters and running statistics (where there
// are some) one element for each; InvalidType unless their dtypes go with the input's: the parameters'
// are those of the statistics.
Error check_batch_norm(const Tensor& input, const NormalizationParameters& parameters,
                       const std::optional<Tensor>& mean, const std::optional<Tensor>& var);

// Checks that the outs' dtypes go with the input's, and resizes them: the saved statistics to `saved`
// elements.
Error prepare_batch_norm_outs(const Tensor& input, SizesType saved, const Tensor& out,
                              const Tensor& save_mean, const Tensor& save_invstd);

// Number `channel` of a vector for inputs of type T, as check_batch_norm() left it: of type T, or float.
template <class T>
Accumulator<T> channel_number(const Tensor& tensor, ptrdiff_t channel) {
  if constexpr (!std::is_same_v<T, Accumulator<T>>) {
    if (tensor.scalar_type() == ScalarType::Float) return tensor.const_data_ptr<float>()[channel];
  }
  return widen(tensor.const_data_ptr<T>()[channel]);
}

template <class T>
Moments<Accumulator<T>> running_moments(const Tensor& mean, const Tensor& var, ptrdiff_t channel,
                                        double eps) {
  const auto variance = channel_number<T>(var, channel) + static_cast<Accumulator<T>>(eps);
  return {channel_number<T>(mean, channel), 1 / std::sqrt(variance)};
}

template <class T>
void normalize_channel(const View& target, const View& source, const Moments<Accumulator<T>>& moments,
                       const NormalizationParameters& parameters, ptrdiff_t channel) {
  Accumulator<T> scale = moments.rstd;
  Accumulator<T> bias = 0;
  if (parameters.weight) scale *= channel_number<T>(*parameters.weight, channel);
  if (parameters.bias) bias = channel_number<T>(*parameters.bias, channel);
  PairedLoops(target, source).for_each_run([&](char* to, const char* from, const PairedLoops::Loop& loop) {
    for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source) {
      *reinterpret_cast<T*>(to) =
          narrow<T>((widen(*reinterpret_cast<const T*>(from)) - moments.mean) * scale + bias);
    }
  });
}

}  // namespace rushlight::kernels
