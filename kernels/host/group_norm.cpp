// SPDX-License-Identifier: BSD-3-Clause
// Group normalization in three passes over each group: mean, variance (two-pass, for accuracy), and an affine
// map of each channel, which stay in cache for groups of usual size.
#include <algorithm>
#include <cmath>

#include "kernels/backs/norm.h"
#include "kernels/host/channel_scale.h"
#include "kernels/host/elements.h"
#include "kernels/host/float_reduction.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels::host {

namespace {

// Mean and inverse standard deviation of the elements of a group, which starts at `first`.
Moments<float> moments(ScalarType type, const PairedAxes& elements, const char* first, double eps) {
  if (elements.count() == 0) return {0.0f, NAN};
  const auto count = static_cast<float>(elements.count());
  float mean = 0.0f;
  fold_floats<float>(Folds<float>::kSum, type, elements, first, 1, nullptr, &mean);
  mean /= count;
  float squares = 0.0f;
  fold_floats<float>(Folds<float>::kSquares, type, elements, first, 1, &mean, &squares);
  return {mean, 1.0f / std::sqrt(squares / count + static_cast<float>(eps))};
}

void load(const Tensor& parameter, size_t first, size_t n, float* to) {
  load_floats(to, parameter.scalar_type(),
              parameter.const_data_ptr<char>() + first * parameter.element_size(), 1, n);
}

struct Groups {
  View source;
  View target;
  size_t count;         // groups in a sample
  size_t channels;      // channels in a group
  ChannelAxes axes;     // of one sample
  PairedAxes elements;  // of one group
  const NormalizationParameters& parameters;

  Groups(const Tensor& input, const Tensor& out, size_t group_count,
         const NormalizationParameters& parameters)
      : source(View::of(input)),
        target(View::of(out)),
        count(group_count),
        channels(static_cast<size_t>(input.size(1)) / group_count),
        axes(input, out, 2),
        parameters(parameters) {
    for (size_t i = input.sizes().size(); i-- > 0;) {
      const size_t d = input.dim_order()[i];
      // The elements of a group: its channels and all positions.
      const size_t size = d == 1 ? channels : static_cast<size_t>(input.sizes()[d]);
      if (d != 0) elements.add({size, byte_stride(input, d), byte_stride(out, d)});
    }
  }

  Moments<float> normalize(size_t n, size_t g) const {
    const auto sample = static_cast<ptrdiff_t>(n);
    const char* const samples = source.data + sample * source.strides[0];
    char* const results = target.data + sample * target.strides[0];
    const auto start = static_cast<ptrdiff_t>(g * channels);
    const Moments<float> found =
        moments(axes.type, elements, samples + start * source.strides[1], parameters.eps);
    // Channels of a group in blocks, whose scales and shifts fit on the stack.
    for (size_t done = 0; done < channels; done += kChannelTile) {
      const size_t taken = std::min(channels - done, kChannelTile);
      const size_t first = g * channels + done;
      float scale[kChannelTile];
      float shift[kChannelTile] = {};
      std::fill_n(scale, taken, 1.0f);
      if (parameters.weight) load(*parameters.weight, first, taken, scale);
      if (parameters.bias) load(*parameters.bias, first, taken, shift);
      for (size_t i = 0; i < taken; ++i) {
        // (x - mean) * scale + bias = x * scale + (bias - mean * scale).
        scale[i] *= found.rstd;
        shift[i] -= found.mean * scale[i];
      }
      const auto channel = static_cast<ptrdiff_t>(first);
      scale_channels(axes, taken, samples + channel * source.strides[1],
                     results + channel * target.strides[1], scale, shift);
    }
    return found;
  }
};

}  // namespace

Error group_norm(KernelContext& context, const GroupNormProblem& problem) {
  // A unit of work is one group of one sample.
  const Groups groups(problem.input, problem.out, problem.groups, problem.parameters);
  const View means = View::of(problem.mean);
  const View rstds = View::of(problem.rstd);
  constexpr size_t kElements = 16384;  // worth another thread
  const size_t grain = kElements / (groups.elements.count() + 1) + 1;
  const size_t count = static_cast<size_t>(problem.input.size(0)) * groups.count;
  context.parallel_for(count, grain, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      const size_t n = i / groups.count;
      const size_t g = i % groups.count;
      const Moments<float> found = groups.normalize(n, g);
      const auto element = [&](const View& view) {
        return view.data + static_cast<ptrdiff_t>(n) * view.strides[0] +
               static_cast<ptrdiff_t>(g) * view.strides[1];
      };
      store_floats(element(means), 1, means.type, &found.mean, 1);
      store_floats(element(rstds), 1, rstds.type, &found.rstd, 1);
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
