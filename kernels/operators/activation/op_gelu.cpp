// SPDX-License-Identifier: BSD-3-Clause
// GELU, x * Phi(x) with the normal distribution Phi: by erf, or by the tanh approximation of Hendrycks and
// Gimpel, "Gaussian Error Linear Units", 2016. In the negative tail 1 + erf cancels, so small results have
// few correct digits: the error is about epsilon * |x|, not epsilon * |result|. float16 and bfloat16 compute
// in float.
#include <cmath>
#include <string_view>

#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
constexpr double kCubicFactor = 0.044715;

// x / 2 * gate, where gate = 2 Phi(x). Where the gate underflows to 0 the result is -0, also for x = -inf, as
// in ExecuTorch; PyTorch computes NaN there.
template <class T>
T gated(T x, T gate) {
  return gate == T(0) ? -T(0) : T(0.5) * x * gate;
}

}  // namespace

Error gelu_out(KernelContext& context, const Tensor& self, std::string_view approximate, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::gelu.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  const bool uses_tanh = approximate == "tanh";
  RL_CHECK(uses_tanh || approximate == "none", Error::InvalidArgument,
           "approximate: expected 'none' or 'tanh', got '%.*s'", static_cast<int>(approximate.size()),
           approximate.data());
  const auto with_tanh = [](auto x) {
    using T = decltype(x);
    const T inner = T(kSqrtTwoOverPi) * (x + T(kCubicFactor) * x * x * x);
    return gated(x, T(1) + std::tanh(inner));
  };
  const auto with_erf = [](auto x) {
    using T = decltype(x);
    return gated(x, T(1) + std::erf(x * T(kSqrtHalf)));
  };
  return backs::gelu_out(context, GeluProblem{{self, out}, uses_tanh}, [&] {
    return uses_tanh ? elementwise<kTypes>(out, with_tanh, self) : elementwise<kTypes>(out, with_erf, self);
  });
}

}  // namespace rushlight::kernels
