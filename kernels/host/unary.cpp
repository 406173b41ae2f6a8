// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions without parameters, one vector microkernel for each dtype; 16-bit floats compute in
// float32. Functions that vector_math.h lacks compute float32 in double.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/backs/elementwise.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elements.h"
#include "kernels/host/elementwise.h"
#include "kernels/ukernel/vector_math.h"
#include "kernels/ukernel/wide_math.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels::host {

namespace {

// A function of spans of doubles that `call` computes. Builds without double contain none.
template <class F>
Error wide(KernelContext& context, const UnaryProblem& problem, F call) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    return elementwise(context, problem.out, of_each<double>(call), problem.self);
  }
  return unsupported_type(problem.type());
}

// A trigonometric function. Microkernels reduce angles up to a limit; a span with a larger one, which is
// rare, is computed by the C library.
template <class T, class Span, class One>
auto of_angles(Span span, One one) {
  return [=](size_t n, const T* x, T* out) {
    constexpr size_t kLength = 256;
    for (size_t length = 0; n > 0; n -= length, x += length, out += length) {
      length = n < kLength ? n : kLength;
      bool reducible = true;
      for (size_t i = 0; i < length; ++i) reducible &= !(std::fabs(x[i]) > T(ukernel::kLargestAngle));
      if (reducible) {
        span(length, x, out);
      } else {
        for (size_t i = 0; i < length; ++i) out[i] = one(x[i]);
      }
    }
  };
}

// sin(factor x) / (factor x) in double, rounded once: 1 at 0, and `limit` at infinity.
template <class T>
auto of_sines(double factor, double limit) {
  return [=](size_t n, const T* x, T* out) {
    constexpr size_t kLength = 256;
    double angles[kLength];
    double sines[kLength];
    const auto libm = [](double angle) { return std::sin(angle); };
    for (size_t length = 0; n > 0; n -= length, x += length, out += length) {
      length = n < kLength ? n : kLength;
      for (size_t i = 0; i < length; ++i) angles[i] = factor * static_cast<double>(x[i]);
      of_angles<double>(ukernel::sin_f64, libm)(length, angles, sines);
      for (size_t i = 0; i < length; ++i) {
        const double quotient = angles[i] == 0 ? 1 : sines[i] / angles[i];
        out[i] = static_cast<T>(std::isinf(angles[i]) ? limit : quotient);
      }
    }
  };
}

// Keeps some bits of 16-bit floats, then flips some: abs and neg change the sign bit alone and convert
// nothing.
Error change_bits(KernelContext& context, const UnaryProblem& problem, uint16_t kept, uint16_t flipped) {
  const auto change = [=](size_t n, const uint16_t* x, uint16_t* out) {
    using Vector = uint16_t __attribute__((vector_size(16)));
    constexpr size_t kLanes = sizeof(Vector) / sizeof(uint16_t);
    for (; n >= kLanes; n -= kLanes, x += kLanes, out += kLanes) {
      Vector bits;
      std::memcpy(&bits, x, sizeof(bits));
      bits = (bits & kept) ^ flipped;
      std::memcpy(out, &bits, sizeof(bits));
    }
    for (; n > 0; --n, ++x, ++out) *out = static_cast<uint16_t>((*x & kept) ^ flipped);
  };
  return elementwise(context, problem.out, of_each<uint16_t>(change), problem.self);
}

Error over_angle(KernelContext& context, const UnaryProblem& problem, double factor, double limit) {
  if (problem.type() == ScalarType::Double)
    return elementwise(context, problem.out, of_each<double>(of_sines<double>(factor, limit)), problem.self);
  return elementwise_in_float(context, problem.out, of_each(of_sines<float>(factor, limit)), problem.self);
}

}  // namespace

Error sinc(KernelContext& context, const UnaryProblem& problem) {
  return over_angle(context, problem, 3.14159265358979323846, NAN);
}

Error spherical_bessel_j0(KernelContext& context, const UnaryProblem& problem) {
  return over_angle(context, problem, 1, 0);
}

// Functions of float32.
#define RL_UNARY(name)                                                                             \
  Error name(KernelContext& context, const UnaryProblem& problem) {                                \
    return elementwise_in_float(context, problem.out, of_each(ukernel::name##_f32), problem.self); \
  }
// Functions of float32 and double.
#define RL_UNARY_OR_WIDE(name)                                                                     \
  Error name(KernelContext& context, const UnaryProblem& problem) {                                \
    if (problem.type() == ScalarType::Double) return wide(context, problem, ukernel::name##_f64);  \
    return elementwise_in_float(context, problem.out, of_each(ukernel::name##_f32), problem.self); \
  }

RL_UNARY(hardsigmoid)
RL_UNARY(hardswish)
RL_UNARY(relu)
RL_UNARY_OR_WIDE(acos)
RL_UNARY_OR_WIDE(acosh)
RL_UNARY_OR_WIDE(asin)
RL_UNARY_OR_WIDE(asinh)
RL_UNARY_OR_WIDE(atan)
RL_UNARY_OR_WIDE(atanh)
RL_UNARY_OR_WIDE(ceil)
RL_UNARY_OR_WIDE(cosh)
RL_UNARY_OR_WIDE(erf)
RL_UNARY_OR_WIDE(erfc)
RL_UNARY_OR_WIDE(erfcx)
RL_UNARY_OR_WIDE(erfinv)
RL_UNARY_OR_WIDE(exp)
RL_UNARY_OR_WIDE(exp2)
RL_UNARY_OR_WIDE(expm1)
RL_UNARY_OR_WIDE(floor)
RL_UNARY_OR_WIDE(lgamma)
RL_UNARY_OR_WIDE(log)
RL_UNARY_OR_WIDE(log10)
RL_UNARY_OR_WIDE(log1p)
RL_UNARY_OR_WIDE(log_sigmoid)
RL_UNARY_OR_WIDE(log2)
RL_UNARY_OR_WIDE(mish)
RL_UNARY_OR_WIDE(reciprocal)
RL_UNARY_OR_WIDE(round)
RL_UNARY_OR_WIDE(rsqrt)
RL_UNARY_OR_WIDE(sigmoid)
RL_UNARY_OR_WIDE(silu)
RL_UNARY_OR_WIDE(sinh)
RL_UNARY_OR_WIDE(sqrt)
RL_UNARY_OR_WIDE(square)
RL_UNARY_OR_WIDE(tanh)
RL_UNARY_OR_WIDE(trunc)

#define RL_SIGN(name, kept, flipped)                                                              \
  Error name(KernelContext& context, const UnaryProblem& problem) {                               \
    if (widens(problem.type())) return change_bits(context, problem, kept, flipped);              \
    if (problem.type() == ScalarType::Double) return wide(context, problem, ukernel::name##_f64); \
    return elementwise(context, problem.out, of_each(ukernel::name##_f32), problem.self);         \
  }

RL_SIGN(abs, 0x7fff, 0)
RL_SIGN(neg, 0xffff, 0x8000)

#undef RL_SIGN
#undef RL_UNARY
#undef RL_UNARY_OR_WIDE

Error logit(KernelContext& context, const LogitProblem& problem) {
  if (problem.type() == ScalarType::Double) {
    return wide(context, problem,
                [low = problem.low, high = problem.high](size_t n, const double* x, double* out) {
                  ukernel::logit_f64(n, x, low, high, out);
                });
  }
  const auto function = [low = static_cast<float>(problem.low), high = static_cast<float>(problem.high)](
                            size_t n, const float* x, float* out) {
    ukernel::logit_f32(n, x, low, high, out);
  };
  return elementwise_in_float(context, problem.out, of_each(function), problem.self);
}

Error sum_lgamma(KernelContext& context, const LgammaSumProblem& problem) {
  if (problem.type() == ScalarType::Double) {
    return wide(context, problem,
                [terms = problem.terms, constant = problem.constant](size_t n, const double* x, double* out) {
                  ukernel::sum_lgamma_f64(n, x, terms, constant, out);
                });
  }
  const auto function = [terms = problem.terms, constant = problem.constant](size_t n, const float* x,
                                                                             float* out) {
    ukernel::sum_lgamma_f32(n, x, terms, constant, out);
  };
  return elementwise_in_float(context, problem.out, of_each(function), problem.self);
}

Error log_sigmoid_forward(KernelContext& context, const LogSigmoidProblem& problem) {
  const auto falling = [](auto magnitude, auto negate, auto power) {
    return [=](size_t n, const auto* x, auto* out) {
      magnitude(n, x, out);
      negate(n, out, out);
      power(n, out, out);
    };
  };
  const UnaryProblem buffer = {problem.self, problem.buffer};
  if (problem.type() == ScalarType::Double) {
    RL_TRY(wide(context, buffer, falling(ukernel::abs_f64, ukernel::neg_f64, ukernel::exp_f64)));
  } else {
    const auto function = falling(ukernel::abs_f32, ukernel::neg_f32, ukernel::exp_f32);
    RL_TRY(elementwise_in_float(context, buffer.out, of_each(function), buffer.self));
  }
  return log_sigmoid(context, problem);
}

Error sin(KernelContext& context, const UnaryProblem& problem) {
  if (problem.type() == ScalarType::Double) {
    const auto libm = [](double x) { return std::sin(x); };
    return wide(context, problem, of_angles<double>(ukernel::sin_f64, libm));
  }
  return elementwise_in_float(context, problem.out, of_each(ukernel::sin_f32), problem.self);
}

Error cos(KernelContext& context, const UnaryProblem& problem) {
  if (problem.type() == ScalarType::Double) {
    const auto libm = [](double x) { return std::cos(x); };
    return wide(context, problem, of_angles<double>(ukernel::cos_f64, libm));
  }
  return elementwise_in_float(context, problem.out, of_each(ukernel::cos_f32), problem.self);
}

Error tan(KernelContext& context, const UnaryProblem& problem) {
  if (problem.type() == ScalarType::Double) {
    const auto libm = [](double x) { return std::tan(x); };
    return wide(context, problem, of_angles<double>(ukernel::tan_f64, libm));
  }
  return elementwise_in_float(context, problem.out, of_each(ukernel::tan_f32), problem.self);
}

}  // namespace rushlight::kernels::host
