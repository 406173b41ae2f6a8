// SPDX-License-Identifier: BSD-3-Clause
// Group normalization (Wu and He, 2018): normalizes groups of channels of each sample, then scales each
// channel. Three passes over a group: mean, variance about the mean, and normalization; nothing is copied.
// 16-bit floats compute in float, through E and P, the accessors of elements and of parameters.
#include "kernels/backs/backs.h"
#include "kernels/normalization/normalization.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

namespace {

template <class E>
Moments<typename E::Held> group_moments(const E& values, const View& group, size_t count, double eps) {
  return moments_of<typename E::Held>(count, eps, [&](auto visit) {
    PairedLoops(group, group)
        .for_each_span([&](const char*, const char* from, const PairedLoops::Loop& loop) {
          for (ptrdiff_t i = 0; i < loop.size; ++i, from += loop.source) {
            visit(values.load(from));
          }
        });
  });
}

// Normalizes one channel of a group: weight and rstd are combined into one factor.
template <class E, class P>
void normalize_channel(const E& values, const P& numbers, const View& target, const View& source,
                       const Moments<typename E::Held>& moments, const NormalizationParameters& parameters,
                       size_t channel) {
  using A = typename E::Held;
  const auto parameter = [&](const std::optional<Tensor>& tensor, A absent) {
    if (!tensor) return absent;
    return numbers.load(tensor->const_data_ptr<char>() + channel * tensor->element_size());
  };
  const A scale = moments.rstd * parameter(parameters.weight, A(1));
  const A bias = parameter(parameters.bias, A(0));
  PairedLoops(target, source).for_each_span([&](char* to, const char* from, const PairedLoops::Loop& loop) {
    for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source) {
      values.store(to, (values.load(from) - moments.mean) * scale + bias);
    }
  });
}

// Input and output as views [N, C, spatial...].
struct Groups {
  View source;
  View target;
  size_t count;     // groups in a sample
  size_t channels;  // channels in a group
};

// means and rstds are [N, groups].
template <class E, class P>
void normalize_sample(const E& values, const P& numbers, const Groups& groups, ptrdiff_t n,
                      const NormalizationParameters& parameters, const View& means, const View& rstds) {
  for (size_t g = 0; g < groups.count; ++g) {
    const auto first = static_cast<ptrdiff_t>(g * groups.channels);
    View group = groups.source;
    group.select(0, n).slice(0, first, static_cast<ptrdiff_t>(groups.channels));
    // The elements of a group: channels times positions.
    size_t count = 1;
    for (size_t d = 0; d < group.dim; ++d) count *= static_cast<size_t>(group.sizes[d]);
    const auto moments = group_moments(values, group, count, parameters.eps);
    // A channel is normalized right after the statistics of its group, while the group may still be in the
    // cache.
    for (size_t c = 0; c < groups.channels; ++c) {
      const ptrdiff_t channel = first + static_cast<ptrdiff_t>(c);
      normalize_channel(values, numbers, View(groups.target).select(0, n).select(0, channel),
                        View(groups.source).select(0, n).select(0, channel), moments, parameters,
                        static_cast<size_t>(channel));
    }
    const auto index = static_cast<ptrdiff_t>(g);
    write_statistic(View(means).select(0, n).select(0, index).data, means.type, moments.mean);
    write_statistic(View(rstds).select(0, n).select(0, index).data, rstds.type, moments.rstd);
  }
}

}  // namespace

// out1 and out2: mean and inverse standard deviation of every group.
Error native_group_norm_out(KernelContext& context, const Tensor& input, const std::optional<Tensor>& weight,
                            const std::optional<Tensor>& bias, int64_t N, int64_t C, int64_t HxW,
                            int64_t group, double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::native_group_norm.out");
  const NormalizationParameters parameters{weight, bias, eps};
  RL_TRY(check_group_sizes(input, N, C, HxW, group));
  const auto channels = static_cast<SizesType>(C);
  RL_TRY(check_parameter_shape(weight, {&channels, 1}, "weight"));
  RL_TRY(check_parameter_shape(bias, {&channels, 1}, "bias"));
  RL_TRY(check_normalization_types(input, parameters, out0, out1, out2));
  const SizesType statistics[] = {input.sizes()[0], static_cast<SizesType>(group)};
  RL_TRY(resize_out(out0, input.sizes()));
  RL_TRY(resize_out(out1, {statistics, 2}));
  RL_TRY(resize_out(out2, {statistics, 2}));
  const GroupNormProblem problem{{input, parameters, out0, out1, out2}, static_cast<size_t>(group)};
  return backs::native_group_norm_out(context, problem, [&] {
    const Groups groups{View::of(input), View::of(out0), static_cast<size_t>(group),
                        static_cast<size_t>(C / group)};
    const View means = View::of(out1);
    const View rstds = View::of(out2);
    const ScalarType type = input.scalar_type();
    return dispatch_normalization<kTypes>(
        type, parameters.type(type), [&](const auto& values, const auto& numbers) {
          for (ptrdiff_t n = 0; n < groups.source.sizes[0]; ++n) {
            normalize_sample(values, numbers, groups, n, parameters, means, rstds);
          }
          return Error::Ok;
        });
  });
}

}  // namespace rushlight::kernels
