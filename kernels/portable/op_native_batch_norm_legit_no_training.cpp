// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/shared/accumulator.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/convert.h"
#include "kernels/shared/selection.h"
#include "kernels/shared/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Per channel numbers, read as A. 16-bit inputs may come with numbers of their own type or of float32.
struct Parameters {
  std::optional<Tensor> weight;
  std::optional<Tensor> bias;
  Tensor mean;
  Tensor var;
  double eps;
};

template <class A>
A read(const std::optional<Tensor>& tensor, ptrdiff_t channel, A absent) {
  if (!tensor) return absent;
  A value;
  const auto size = static_cast<ptrdiff_t>(tensor->element_size());
  convert_run(&value, 0, scalar_type_of<A>, tensor->const_data_ptr<char>() + channel * size, 0,
              tensor->scalar_type(), 1);
  return value;
}

// y = x * scale + shift is the whole normalization of a channel.
template <class T>
void normalize_channel(const Parameters& parameters, ptrdiff_t channel, const View& source,
                       const View& target) {
  using A = Accumulator<T>;
  const A mean = read<A>(parameters.mean, channel, 0);
  const A var = read<A>(parameters.var, channel, 0);
  const A scale = read<A>(parameters.weight, channel, 1) / std::sqrt(var + static_cast<A>(parameters.eps));
  const A shift = read<A>(parameters.bias, channel, 0) - mean * scale;
  PairedLoops(target, source).for_each_run([&](char* to, const char* from, const PairedLoops::Loop& loop) {
    for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source) {
      *reinterpret_cast<T*>(to) = narrow<T>(widen(*reinterpret_cast<const T*>(from)) * scale + shift);
    }
  });
}

Error check_parameter(const Tensor& parameter, const Tensor& input, ScalarType type, const char* name) {
  RL_CHECK(parameter.dim() == 1 && parameter.size(0) == input.size(1), Error::InvalidArgument,
           "%s: expected one element for each of %ld channels", name, static_cast<long>(input.size(1)));
  RL_CHECK(parameter.scalar_type() == type, Error::InvalidType, "%s: expected dtype %s, got %s", name,
           to_string(type), to_string(parameter.scalar_type()));
  return check_convertible(type);
}

Error check_parameters(const Parameters& parameters, const Tensor& input) {
  const ScalarType type = parameters.mean.scalar_type();
  const bool widened = contains(types::kReducedFloat, input.scalar_type()) && type == ScalarType::Float;
  RL_CHECK(type == input.scalar_type() || widened, Error::InvalidType,
           "running_mean: dtype %s does not go with an input of %s", to_string(type),
           to_string(input.scalar_type()));
  RL_TRY(check_parameter(parameters.mean, input, type, "running_mean"));
  RL_TRY(check_parameter(parameters.var, input, type, "running_var"));
  if (parameters.weight) RL_TRY(check_parameter(*parameters.weight, input, type, "weight"));
  if (parameters.bias) RL_TRY(check_parameter(*parameters.bias, input, type, "bias"));
  return Error::Ok;
}

}  // namespace

// out1 and out2, which training would save its statistics in, become empty.
Error _native_batch_norm_legit_no_training_out(KernelContext&, const Tensor& input,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& bias, const Tensor& running_mean,
                                               const Tensor& running_var, double, double eps, Tensor& out0,
                                               Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::_native_batch_norm_legit_no_training.out");
  RL_CHECK(input.dim() >= 2, Error::InvalidArgument, "input: expected rank 2 at least, got %d",
           static_cast<int>(input.dim()));
  RL_TRY(check_same_dtype(input, out0, "input and out0"));
  const Parameters parameters{weight, bias, running_mean, running_var, eps};
  RL_TRY(check_parameters(parameters, input));
  const View source = View::of(input);
  const SizesType none = 0;
  RL_TRY(resize_out(out0, {source.sizes, source.dim}));
  RL_TRY(resize_out(out1, {&none, 1}));
  RL_TRY(resize_out(out2, {&none, 1}));
  const View target = View::of(out0);
  return dispatch<kTypes>(source.type, [&](auto type) {
    using T = typename decltype(type)::Element;
    for (ptrdiff_t channel = 0; channel < source.sizes[1]; ++channel) {
      normalize_channel<T>(parameters, channel, View(source).select(1, channel),
                           View(target).select(1, channel));
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
