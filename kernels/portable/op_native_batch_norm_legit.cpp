// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/accumulator.h"
#include "kernels/shared/normalization.h"
#include "kernels/shared/selection.h"
#include "kernels/shared/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

template <class T, class P>
Moments<Accumulator<T>> normalize_channel(const View& target, const View& source,
                                          const NormalizationParameters& parameters, ptrdiff_t channel) {
  using A = Accumulator<T>;
  size_t count = 1;
  for (size_t d = 0; d < source.dim; ++d) count *= static_cast<size_t>(source.sizes[d]);
  const auto moments = moments_of<A>(count, parameters.eps, [&](auto visit) {
    PairedLoops(source, source).for_each_run([&](char*, const char* from, const PairedLoops::Loop& loop) {
      for (ptrdiff_t i = 0; i < loop.size; ++i, from += loop.source) {
        visit(widen(*reinterpret_cast<const T*>(from)));
      }
    });
  });
  const auto parameter = [channel](const std::optional<Tensor>& tensor, A absent) {
    return tensor ? static_cast<A>(tensor->const_data_ptr<P>()[channel]) : absent;
  };
  const A scale = moments.rstd * parameter(parameters.weight, A(1));
  const A bias = parameter(parameters.bias, A(0));
  PairedLoops(target, source).for_each_run([&](char* to, const char* from, const PairedLoops::Loop& loop) {
    for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source) {
      *reinterpret_cast<T*>(to) =
          narrow<T>((widen(*reinterpret_cast<const T*>(from)) - moments.mean) * scale + bias);
    }
  });
  return moments;
}

}  // namespace

// Normalizes with the statistics of this batch, which are kept nowhere: momentum is not used.
Error _native_batch_norm_legit_no_stats_out(KernelContext&, const Tensor& input,
                                            const std::optional<Tensor>& weight,
                                            const std::optional<Tensor>& bias, bool training, double,
                                            double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  constexpr TypeSet kTypes = selected_types("aten::_native_batch_norm_legit.no_stats_out");
  RL_CHECK(input.dim() >= 2, Error::InvalidArgument, "input: expected rank 2 at least, got %d",
           static_cast<int>(input.dim()));
  RL_CHECK(training, Error::InvalidArgument, "training: expected true, as there are no statistics");
  const NormalizationParameters parameters{weight, bias, eps};
  const auto channels = static_cast<SizesType>(input.size(1));
  RL_CHECK(input.numel() != 0, Error::InvalidArgument, "input: expected elements to take statistics of");
  RL_TRY(check_parameter_shape(weight, {&channels, 1}, "weight"));
  RL_TRY(check_parameter_shape(bias, {&channels, 1}, "bias"));
  RL_TRY(check_normalization_types(input, parameters, out, save_mean, save_invstd));
  const View source = View::of(input);
  RL_TRY(resize_out(out, {source.sizes, source.dim}));
  RL_TRY(resize_out(save_mean, {&channels, 1}));
  RL_TRY(resize_out(save_invstd, {&channels, 1}));
  const View target = View::of(out);
  const View means = View::of(save_mean);
  const View rstds = View::of(save_invstd);
  return dispatch_normalization<kTypes>(
      input.scalar_type(), parameters.type(input.scalar_type()), [&](auto type, auto parameter) {
        using T = typename decltype(type)::Element;
        using P = typename decltype(parameter)::Element;
        for (ptrdiff_t c = 0; c < channels; ++c) {
          const auto moments =
              normalize_channel<T, P>(View(target).select(1, c), View(source).select(1, c), parameters, c);
          write_statistic(View(means).select(0, c).data, means.type, moments.mean);
          write_statistic(View(rstds).select(0, c).data, rstds.type, moments.rstd);
        }
        return Error::Ok;
      });
}

}  // namespace rushlight::kernels
