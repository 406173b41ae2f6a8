// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/shared/accumulator.h"
#include "kernels/shared/element_access.h"
#include "kernels/shared/normalization.h"
#include "kernels/shared/selection.h"
#include "kernels/shared/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::_native_batch_norm_legit.out") |
                           selected_types("aten::_native_batch_norm_legit.no_stats_out") |
                           selected_types("aten::_native_batch_norm_legit_no_training.out");

// Statistics that are kept, and how much of a batch's goes into them.
struct Running {
  const Tensor& mean;
  const Tensor& var;
  double momentum = 0;
};

// Where the statistics of each channel of this batch go.
struct Saved {
  const Tensor& mean;
  const Tensor& invstd;
};

char* channel_of(const Tensor& tensor, ptrdiff_t channel) {
  return tensor.mutable_data_ptr<char>() + channel * static_cast<ptrdiff_t>(tensor.element_size());
}

double read(const std::optional<Tensor>& parameter, ptrdiff_t channel, double absent) {
  return parameter ? load_number(channel_of(*parameter, channel), parameter->scalar_type()) : absent;
}

void keep(const Tensor& running, ptrdiff_t channel, double momentum, double value) {
  char* const at = channel_of(running, channel);
  const double kept = load_number(at, running.scalar_type());
  store_number(at, running.scalar_type(), momentum * value + (1 - momentum) * kept);
}

template <class T>
Moments<Accumulator<T>> channel_moments(const View& channel, size_t count, double eps) {
  return moments_of<Accumulator<T>>(count, eps, [&](auto visit) {
    PairedLoops(channel, channel).for_each_run([&](char*, const char* from, const PairedLoops::Loop& loop) {
      for (ptrdiff_t i = 0; i < loop.size; ++i, from += loop.source) {
        visit(widen(*reinterpret_cast<const T*>(from)));
      }
    });
  });
}

template <class T>
void normalize_channel(const View& target, const View& source, const Moments<Accumulator<T>>& moments,
                       Accumulator<T> weight, Accumulator<T> bias) {
  const Accumulator<T> scale = moments.rstd * weight;
  PairedLoops(target, source).for_each_run([&](char* to, const char* from, const PairedLoops::Loop& loop) {
    for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source) {
      *reinterpret_cast<T*>(to) =
          narrow<T>((widen(*reinterpret_cast<const T*>(from)) - moments.mean) * scale + bias);
    }
  });
}

// With the statistics of this batch, where they are saved; otherwise with those that were kept.
Error normalize(const Tensor& input, const NormalizationParameters& parameters, const Running* running,
                const Saved* saved, const Tensor& out) {
  const View source = View::of(input);
  const View target = View::of(out);
  const size_t count = source.sizes[1] == 0 ? 0 : input.numel() / static_cast<size_t>(source.sizes[1]);
  return dispatch<kTypes>(source.type, [&](auto type) {
    using T = typename decltype(type)::Element;
    using A = Accumulator<T>;
    for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
      const View channel = View(source).select(1, c);
      Moments<A> moments;
      if (saved == nullptr) {
        moments.mean = static_cast<A>(read(running->mean, c, 0));
        moments.rstd =
            1 / std::sqrt(static_cast<A>(read(running->var, c, 0)) + static_cast<A>(parameters.eps));
      } else {
        moments = channel_moments<T>(channel, count, parameters.eps);
        write_statistic(channel_of(saved->mean, c), saved->mean.scalar_type(), moments.mean);
        write_statistic(channel_of(saved->invstd, c), saved->invstd.scalar_type(), moments.rstd);
      }
      if (saved != nullptr && running != nullptr) {
        const double variance = 1 / (static_cast<double>(moments.rstd) * static_cast<double>(moments.rstd));
        const auto n = static_cast<double>(count);
        keep(running->mean, c, running->momentum, static_cast<double>(moments.mean));
        keep(running->var, c, running->momentum, (variance - parameters.eps) * (n / (n - 1)));
      }
      normalize_channel<T>(View(target).select(1, c), channel, moments,
                           static_cast<A>(read(parameters.weight, c, 1)),
                           static_cast<A>(read(parameters.bias, c, 0)));
    }
    return Error::Ok;
  });
}

Error check_rank(const Tensor& input) {
  RL_CHECK(input.dim() >= 2, Error::InvalidArgument, "input: expected rank 2 at least, got %d",
           static_cast<int>(input.dim()));
  return Error::Ok;
}

Error check_running(const Tensor& running, const Tensor& input, const NormalizationParameters& parameters,
                    const char* name) {
  RL_TRY(check_parameter_shape(running, input.sizes().subspan(1, 1), name));
  const ScalarType type = running.scalar_type();
  const bool widened = contains(types::kReducedFloat, input.scalar_type()) && type == ScalarType::Float;
  RL_CHECK(type == input.scalar_type() || widened, Error::InvalidType,
           "%s: dtype %s does not go with an input of %s", name, to_string(type),
           to_string(input.scalar_type()));
  RL_CHECK(parameters.type(type) == type, Error::InvalidType, "weight and bias: expected dtype %s, got %s",
           to_string(type), to_string(parameters.type(type)));
  return check_loadable(running);
}

// Checks the dtypes and shapes, and resizes the outs. `channels` have statistics to save.
Error prepare(const Tensor& input, const NormalizationParameters& parameters, SizesType channels,
              const Tensor& out, const Tensor& save_mean, const Tensor& save_invstd) {
  const auto shape = input.sizes().subspan(1, 1);
  RL_TRY(check_parameter_shape(parameters.weight, shape, "weight"));
  RL_TRY(check_parameter_shape(parameters.bias, shape, "bias"));
  RL_TRY(check_normalization_types(input, parameters, out, save_mean, save_invstd));
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(resize_out(out, input.sizes()));
  RL_TRY(resize_out(save_mean, {&channels, 1}));
  return resize_out(save_invstd, {&channels, 1});
}

Error with_batch(const Tensor& input, const NormalizationParameters& parameters, const Running* running,
                 const Tensor& out, const Tensor& save_mean, const Tensor& save_invstd) {
  RL_CHECK(input.numel() != 0, Error::InvalidArgument, "input: expected elements to take statistics of");
  RL_TRY(prepare(input, parameters, input.sizes()[1], out, save_mean, save_invstd));
  const Saved saved{save_mean, save_invstd};
  return normalize(input, parameters, running, &saved, out);
}

Error with_running(const Tensor& input, const NormalizationParameters& parameters, const Running& running,
                   const Tensor& out, const Tensor& save_mean, const Tensor& save_invstd) {
  RL_TRY(prepare(input, parameters, 0, out, save_mean, save_invstd));
  return normalize(input, parameters, &running, nullptr, out);
}

}  // namespace

// Normalizes with the statistics of this batch, which are kept nowhere: momentum is not used.
Error _native_batch_norm_legit_no_stats_out(KernelContext&, const Tensor& input,
                                            const std::optional<Tensor>& weight,
                                            const std::optional<Tensor>& bias, bool training, double,
                                            double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  RL_TRY(check_rank(input));
  RL_CHECK(training, Error::InvalidArgument, "training: expected true, as there are no statistics");
  return with_batch(input, {weight, bias, eps}, nullptr, out, save_mean, save_invstd);
}

// Training moves the kept statistics towards those of this batch, with the variance of a sample. Without,
// what would be saved becomes empty.
Error _native_batch_norm_legit_out(KernelContext&, const Tensor& input, const std::optional<Tensor>& weight,
                                   const std::optional<Tensor>& bias, Tensor& running_mean,
                                   Tensor& running_var, bool training, double momentum, double eps,
                                   Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  RL_TRY(check_rank(input));
  const NormalizationParameters parameters{weight, bias, eps};
  RL_TRY(check_running(running_mean, input, parameters, "running_mean"));
  RL_TRY(check_running(running_var, input, parameters, "running_var"));
  const Running running{running_mean, running_var, momentum};
  return training ? with_batch(input, parameters, &running, out, save_mean, save_invstd)
                  : with_running(input, parameters, running, out, save_mean, save_invstd);
}

// out1 and out2, which training would save its statistics in, become empty.
Error _native_batch_norm_legit_no_training_out(KernelContext&, const Tensor& input,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& bias, const Tensor& running_mean,
                                               const Tensor& running_var, double, double eps, Tensor& out0,
                                               Tensor& out1, Tensor& out2) {
  RL_TRY(check_rank(input));
  const NormalizationParameters parameters{weight, bias, eps};
  RL_TRY(check_running(running_mean, input, parameters, "running_mean"));
  RL_TRY(check_running(running_var, input, parameters, "running_var"));
  return with_running(input, parameters, {running_mean, running_var}, out0, out1, out2);
}

}  // namespace rushlight::kernels
