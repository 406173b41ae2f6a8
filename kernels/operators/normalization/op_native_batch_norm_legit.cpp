// SPDX-License-Identifier: BSD-3-Clause
// Batch normalization with the statistics of the batch, or with running statistics, channel by channel. Three
// passes over a channel for batch statistics: mean, variance about the mean, and normalization. No scratch.
#include "kernels/backs/backs.h"
#include "kernels/backs/norm.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/normalization/batch_norm.h"
#include "kernels/normalization/running_statistics.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::_native_batch_norm_legit.out") |
                           selected_types("aten::_native_batch_norm_legit.no_stats_out");

// Outputs for the statistics of each channel of this batch.
struct Saved {
  const Tensor& mean;
  const Tensor& invstd;
};

// Statistics are vectors with one element for each channel.
char* channel_of(const Tensor& tensor, ptrdiff_t channel) {
  return tensor.mutable_data_ptr<char>() + channel * static_cast<ptrdiff_t>(tensor.element_size());
}

// Reads one channel [N, spatial...] in the merged loops of its layout; nothing is copied.
template <class T>
Moments<Accumulator<T>> channel_moments(const View& channel, size_t count, double eps) {
  return moments_of<Accumulator<T>>(count, eps, [&](auto visit) {
    PairedLoops(channel, channel).for_each_span([&](char*, const char* from, const PairedLoops::Loop& loop) {
      if (converts_pieces<T>(loop.size)) {
        for_pieces<Accumulator<T>>(from, loop.source, scalar_type_of<T>, static_cast<size_t>(loop.size),
                                   [&](const Accumulator<T>* values, size_t, size_t n) { visit(values, n); });
        return;
      }
      for (ptrdiff_t i = 0; i < loop.size; ++i, from += loop.source) {
        visit(widen(*reinterpret_cast<const T*>(from)));
      }
    });
  });
}

// Uses the statistics of this batch if `saved` is given, otherwise the running statistics.
Error normalize(const Tensor& input, const NormalizationParameters& parameters,
                const RunningStatistics* running, const Saved* saved, const Tensor& out) {
  return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    const View source = View::of(input);
    const View target = View::of(out);
    // The number of elements of a channel.
    const size_t count = source.sizes[1] == 0 ? 0 : input.numel() / static_cast<size_t>(source.sizes[1]);
    for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
      const View channel = View(source).select(1, c);
      Moments<Accumulator<T>> moments;
      if (saved == nullptr) {
        moments = running_moments<T>(running->mean, running->var, c, parameters.eps);
      } else {
        moments = channel_moments<T>(channel, count, parameters.eps);
        write_statistic(channel_of(saved->mean, c), saved->mean.scalar_type(), moments.mean);
        write_statistic(channel_of(saved->invstd, c), saved->invstd.scalar_type(), moments.rstd);
        if (running != nullptr) {
          running->update(static_cast<size_t>(c), static_cast<double>(moments.mean),
                          static_cast<double>(moments.variance), count);
        }
      }
      normalize_channel<T>(View(target).select(1, c), channel, moments, parameters, c);
    }
    return Error::Ok;
  });
}

// Checks a problem, and resizes its results.
Error prepare(const BatchStatisticsProblem& problem) {
  RL_CHECK(problem.input.numel() != 0, Error::InvalidArgument,
           "input: expected elements to take statistics of");
  RL_TRY(
      check_normalization_types(problem.input, problem.parameters, problem.out, problem.mean, problem.rstd));
  return prepare_batch_norm_outs(problem.input, problem.input.sizes()[1], problem.out, problem.mean,
                                 problem.rstd);
}

Error normalize(const BatchStatisticsProblem& problem) {
  const Saved saved{problem.mean, problem.rstd};
  return normalize(problem.input, problem.parameters, problem.running, &saved, problem.out);
}

}  // namespace

// Normalizes with the statistics of this batch. Momentum is ignored, as there are no running statistics.
Error _native_batch_norm_legit_no_stats_out(KernelContext& context, const Tensor& input,
                                            const std::optional<Tensor>& weight,
                                            const std::optional<Tensor>& bias, bool training, double,
                                            double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  const NormalizationParameters parameters{weight, bias, eps};
  RL_TRY(check_batch_norm(input, parameters, std::nullopt, std::nullopt));
  RL_CHECK(training, Error::InvalidArgument, "training: expected true without running statistics");
  const BatchStatisticsProblem problem{{input, parameters, out, save_mean, save_invstd}, nullptr};
  RL_TRY(prepare(problem));
  return backs::_native_batch_norm_legit_no_stats_out(context, problem, [&] { return normalize(problem); });
}

// Training updates the running statistics from this batch (unbiased variance). Inference uses the
// running statistics; save_mean and save_invstd become empty.
Error _native_batch_norm_legit_out(KernelContext& context, const Tensor& input,
                                   const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                   Tensor& running_mean, Tensor& running_var, bool training, double momentum,
                                   double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  const NormalizationParameters parameters{weight, bias, eps};
  RL_TRY(check_batch_norm(input, parameters, running_mean, running_var));
  RL_TRY(check_loadable(running_mean));
  const RunningStatistics running{running_mean, running_var, momentum};
  if (training) {
    const BatchStatisticsProblem problem{{input, parameters, out, save_mean, save_invstd}, &running};
    RL_TRY(prepare(problem));
    return backs::_native_batch_norm_legit_out(context, problem, [&] { return normalize(problem); });
  }
  RL_TRY(prepare_batch_norm_outs(input, 0, out, save_mean, save_invstd));
  return normalize(input, parameters, &running, nullptr, out);
}

}  // namespace rushlight::kernels
