// SPDX-License-Identifier: BSD-3-Clause
// Shared by batch normalization with and without training: argument checks, and the normalization of one
// channel with given statistics. Channels are dimension 1; a channel is every element with one index there,
// in all elements of the batch.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "kernels/matmul/accumulator.h"
#include "kernels/normalization/normalization.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

// InvalidArgument unless the input has channels, and each given parameter and running statistic has one
// element for each channel. InvalidType unless the dtypes match: parameters have the dtype of the statistics
// (without them, of each other), which is the input's, or float32 for 16-bit inputs.
Error check_batch_norm(const Tensor& input, const NormalizationParameters& parameters,
                       const std::optional<Tensor>& mean, const std::optional<Tensor>& var);

// Checks that `out` has the input's dtype, and resizes the results: `out` to the input's shape, the saved
// statistics to `saved` elements (the channels, or 0 in inference). InvalidArgument, InvalidType.
Error prepare_batch_norm_outs(const Tensor& input, SizesType saved, const Tensor& out,
                              const Tensor& save_mean, const Tensor& save_invstd);

// Element `channel` of a parameter for inputs of type T. Precondition: check_batch_norm(), so it is T or
// float.
template <class T>
Accumulator<T> channel_element(const Tensor& tensor, ptrdiff_t channel) {
  if constexpr (!std::is_same_v<T, Accumulator<T>>) {
    if (tensor.scalar_type() == ScalarType::Float) return tensor.const_data_ptr<float>()[channel];
  }
  return widen(tensor.const_data_ptr<T>()[channel]);
}

// Mean and 1 / sqrt(variance + eps) of one channel, computed in the accumulator's type.
template <class T>
Moments<Accumulator<T>> running_moments(const Tensor& mean, const Tensor& var, ptrdiff_t channel,
                                        double eps) {
  const auto variance = channel_element<T>(var, channel) + static_cast<Accumulator<T>>(eps);
  return {channel_element<T>(mean, channel), 1 / std::sqrt(variance)};
}

// True if a span of a channel is worth calls of convert_span(), in code that is not optimized for size;
// others are converted one by one.
template <class T>
constexpr bool converts_pieces([[maybe_unused]] ptrdiff_t count) {
#ifdef __OPTIMIZE_SIZE__
  return false;
#else
  constexpr ptrdiff_t kLongSpan = 16;
  return !std::is_same_v<T, Accumulator<T>> && count >= kLongSpan;
#endif
}

// target = (source - mean) * scale + bias for the views of one channel, with scale = rstd * weight. The mean
// is subtracted first, because folding it into the bias would cancel if it is large. Rounds each element
// once; `target` may be `source`.
template <class T>
void normalize_channel(const View& target, const View& source, const Moments<Accumulator<T>>& moments,
                       const NormalizationParameters& parameters, ptrdiff_t channel) {
  using A = Accumulator<T>;
  A scale = moments.rstd;
  A bias = 0;
  if (parameters.weight) scale *= channel_element<T>(*parameters.weight, channel);
  if (parameters.bias) bias = channel_element<T>(*parameters.bias, channel);
  PairedLoops(target, source).for_each_span([&](char* to, const char* from, const PairedLoops::Loop& loop) {
    if (converts_pieces<T>(loop.size)) {
      for_pieces<A>(from, loop.source, scalar_type_of<T>, static_cast<size_t>(loop.size),
                    [&](A* values, size_t first, size_t n) {
                      for (size_t i = 0; i < n; ++i) values[i] = (values[i] - moments.mean) * scale + bias;
                      convert_span(to + static_cast<ptrdiff_t>(first) * loop.target, loop.target,
                                   scalar_type_of<T>, values, sizeof(A), scalar_type_of<A>, n);
                    });
      return;
    }
    for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source) {
      *reinterpret_cast<T*>(to) =
          narrow<T>((widen(*reinterpret_cast<const T*>(from)) - moments.mean) * scale + bias);
    }
  });
}

}  // namespace rushlight::kernels
