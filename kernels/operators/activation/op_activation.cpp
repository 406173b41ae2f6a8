// SPDX-License-Identifier: BSD-3-Clause
// Elementwise activation functions without a file of their name. Exponentials take arguments that are not
// positive where that avoids overflow (log1p_exp, log_sigmoid); NaN inputs give NaN outputs, as in PyTorch.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/backs/backs.h"
#include "kernels/checks/scalar_range.h"
#include "kernels/checks/selection.h"
#include "kernels/math/complex_function.h"
#include "kernels/math/random.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// min(max(x + 3, 0), 6), the numerator of hardsigmoid; comparisons are ordered so that NaN stays NaN.
template <class T>
T relu6_of_shifted(T x) {
  const T shifted = x + T(3);
  return shifted < T(0) ? T(0) : (shifted > T(6) ? T(6) : shifted);
}

// log(1 + exp(x)) without overflow: exp sees only arguments <= 0.
template <class T>
T log1p_exp(T x) {
  return x > T(0) ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

template <class T>
T exp_of_minus_magnitude(T x) {
  return std::exp(-std::fabs(x));
}

}  // namespace

// relu6(x + 3) / 6. A product with 1/6, which is itself rounded, could differ in the last bit.
Error hardsigmoid_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::hardsigmoid.out");
  return backs::hardsigmoid_out(context, UnaryProblem{self, out}, [&] {
    const auto f = [](auto x) { return relu6_of_shifted(x) / decltype(x)(6); };
    return elementwise<kTypes>(out, f, self);
  });
}

// x * relu6(x + 3) / 6, exactly 0 for x <= -3 and x for x >= 3 up to rounding. x = -inf gives NaN (-inf * 0).
Error hardswish_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::hardswish.out");
  return backs::hardswish_out(context, UnaryProblem{self, out}, [&] {
    const auto f = [](auto x) { return x * relu6_of_shifted(x) / decltype(x)(6); };
    return elementwise<kTypes>(out, f, self);
  });
}

// x * tanh(log(1 + exp(x))).
Error mish_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mish.out");
  return backs::mish_out(context, UnaryProblem{self, out}, [&] {
    const auto f = [](auto x) { return x * std::tanh(log1p_exp(x)); };
    return elementwise<kTypes>(out, f, self);
  });
}

// x * sigmoid(x) as one division. For large negative x, exp(-x) overflows to infinity, which gives -0; x =
// -inf gives NaN.
Error silu_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::silu.out");
  return backs::silu_out(context, UnaryProblem{self, out}, [&] {
    const auto f = [](auto x) { return x / (decltype(x)(1) + std::exp(-x)); };
    if constexpr ((kTypes & types::kComplex) != 0) {
      if (contains(kTypes & types::kComplex, self.scalar_type()))
        return complex_function(self, out, complex_silu);
    }
    return elementwise<(kTypes & ~types::kComplex)>(out, f, self);
  });
}

// log(1 + exp(beta x)) / beta. Beyond `threshold`, which is compared with beta x, the result is x: at
// PyTorch's default of 20 the two differ by 2e-9, less than half an ULP of float32.
Error softplus_out(KernelContext& context, const Tensor& self, const Scalar& beta, const Scalar& threshold,
                   Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::softplus.out");
  const auto make = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [factor = beta.to<T>(), limit = threshold.to<T>()](T x) {
      return x * factor > limit ? x : std::log1p(std::exp(x * factor)) / factor;
    };
  };
  return backs::softplus_out(context, SoftplusProblem{{self, out}, beta.to<float>(), threshold.to<float>()},
                             [&] { return elementwise_for<kTypes>(self.scalar_type(), out, make, self); });
}

// max(0, x) + min(0, alpha * expm1(x / alpha)). The inverse of alpha is computed in double, so that elements
// take a multiplication and not a division.
Error celu_out(KernelContext& context, const Tensor& self, const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::celu.out");
  RL_CHECK(alpha.to<double>() != 0, Error::InvalidArgument, "alpha: expected a value other than 0");
  const auto make = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [scale = alpha.to<T>(), inverse = static_cast<T>(1 / alpha.to<double>())](T x) {
      return x > T(0) ? x : scale * std::expm1(x * inverse);
    };
  };
  const EluProblem problem = {{self, out}, alpha.to<double>(), 1, 1 / alpha.to<double>()};
  return backs::celu_out(context, problem,
                         [&] { return elementwise_for<kTypes>(self.scalar_type(), out, make, self); });
}

// Zero within [-lambd, lambd]. NaN fails both comparisons and stays.
Error hardshrink_out(KernelContext&, const Tensor& self, const Scalar& lambd, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::hardshrink.out");
  const auto make = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [bound = lambd.to<T>()](T x) { return x >= -bound && x <= bound ? T(0) : x; };
  };
  return elementwise_for<kTypes>(self.scalar_type(), out, make, self);
}

// x moved towards 0 by lambd, and 0 within [-lambd, lambd].
Error softshrink_out(KernelContext&, const Tensor& self, const Scalar& lambd, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::softshrink.out");
  RL_CHECK(lambd.to<double>() >= 0, Error::InvalidArgument, "lambd: expected 0 at least, got %f",
           lambd.to<double>());
  const auto make = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [bound = lambd.to<T>()](T x) {
      return x > bound ? x - bound : (x < -bound ? x + bound : x * T(0));  // x * 0 keeps NaN
    };
  };
  return elementwise_for<kTypes>(self.scalar_type(), out, make, self);
}

// x if it is above `threshold`, else `value`. NaN fails the comparison and stays. Both scalars must fit in
// the dtype; PyTorch refuses them otherwise, too.
Error threshold_out(KernelContext&, const Tensor& self, const Scalar& threshold, const Scalar& value,
                    Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::threshold.out");
  const ScalarType type = self.scalar_type();
  RL_TRY(check_scalar_range(threshold, type, "threshold"));
  RL_TRY(check_scalar_range(value, type, "value"));
  const auto make = [&](auto held) {
    using T = typename decltype(held)::Element;
    T limit = threshold.to<T>();
    // Negative limits wrap in uint8, as in PyTorch; other constants fit in their dtypes.
    if constexpr (std::is_same_v<T, int64_t>) limit = type == ScalarType::Byte ? limit & 0xff : limit;
    return [limit, other = value.to<T>()](T x) { return x <= limit ? other : x; };
  };
  // Loops of uint8 and int32 hold these constants, too. Only uint64 has signs that matter.
  static_assert(!contains(kTypes, ScalarType::UInt64));
  return elementwise_for<kTypes, Signs::kIgnored>(type, out, make, self);
}

// log(sigmoid(x)) as min(x, 0) - log1p(exp(-|x|)): the exponential is at most 1, and large negative x give x
// itself. `buffer` receives exp(-|x|) for the backward operator, in the dtype of `self`.
Error log_sigmoid_forward_output(KernelContext& context, const Tensor& self, Tensor& output, Tensor& buffer) {
  constexpr TypeSet kTypes = selected_types("aten::log_sigmoid_forward.output");
  return backs::log_sigmoid_forward_output(context, LogSigmoidProblem{{self, output}, buffer}, [&] {
    const auto exponential = [](auto x) { return exp_of_minus_magnitude(x); };
    RL_TRY(elementwise<kTypes>(self.scalar_type(), buffer, exponential, self));
    const auto log_sigmoid = [](auto x) {
      using T = decltype(x);
      return (x < T(0) ? x : T(0)) - std::log1p(exp_of_minus_magnitude(x));
    };
    return elementwise<kTypes>(output, log_sigmoid, self);
  });
}

Error log_sigmoid_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::log_sigmoid.out");
  return backs::log_sigmoid_out(context, UnaryProblem{self, out}, [&] {
    const auto f = [](auto x) { return -log1p_exp(-x); };
    return elementwise<kTypes>(out, f, self);
  });
}

// Leaky ReLU with a random slope. Training draws a slope from [lower, upper) for each element <= 0 and stores
// it in `noise` (1 for the others); inference uses the mean slope and leaves `noise` unchanged. Training
// draws a value for every element, also where it is not used, so that the stream does not depend on the data.
// Three passes: draw, select, multiply.
Error rrelu_with_noise_out(KernelContext&, const Tensor& self, Tensor& noise, const Scalar& lower,
                           const Scalar& upper, bool training, const EValue& generator, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::rrelu_with_noise.out");
  RL_TRY(check_no_generator(generator));
  const double low = lower.to<double>();
  const double high = upper.to<double>();
  RL_CHECK(low <= high, Error::InvalidArgument, "upper: expected %f at least, got %f", low, high);
  if (!training) {
    const auto leak = [&](auto type) {
      using T = typename decltype(type)::Element;
      return [slope = static_cast<T>((low + high) / 2)](T x) { return x > T(0) ? x : x * slope; };
    };
    return elementwise_for<kTypes>(self.scalar_type(), out, leak, self);
  }
  RL_TRY(check_same_dtype(self, noise, "self and noise"));
  RL_TRY(resize_out(noise, self.sizes()));
  const auto draw = [](Random& random, const double* from, const double* to, double* drawn, size_t n) {
    for (size_t i = 0; i < n; ++i) drawn[i] = from[i] + random.uniform() * (to[i] - from[i]);
  };
  RL_TRY(draw_into(kTypes, noise, draw, low, high));
  const auto one_above_0 = [](auto x, auto drawn) { return x <= decltype(x)(0) ? drawn : decltype(x)(1); };
  RL_TRY(elementwise<kTypes>(self.scalar_type(), noise, one_above_0, self, noise));
  return elementwise<kTypes>(
      self.scalar_type(), out, [](auto x, auto factor) { return x * factor; }, self, noise);
}

}  // namespace rushlight::kernels
