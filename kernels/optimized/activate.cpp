// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/activate.h"

#include <cmath>

namespace rushlight::kernels::optimized {

namespace {

float shifted_relu6(float x) {
  const float shifted = x + 3.0f;
  return shifted < 0.0f ? 0.0f : (shifted > 6.0f ? 6.0f : shifted);
}

// x / 2 times twice the share of the distribution below x. Where that is nothing so is the product.
float gated(float x, float gate) { return gate == 0.0f ? -0.0f : 0.5f * x * gate; }

template <class Function>
void for_each(float* x, size_t n, Function function) {
  for (size_t i = 0; i < n; ++i) x[i] = function(x[i]);
}

}  // namespace

void activate(const Activation& activation, float* x, size_t n) {
  constexpr float kSqrtHalf = 0.70710678118654752440f;
  constexpr float kSqrtTwoOverPi = 0.79788456080286535588f;
  const auto low = static_cast<float>(activation.low);
  const auto high = static_cast<float>(activation.high);
  switch (activation.kind) {
    case ActivationKind::kNone:
      return;
    case ActivationKind::kClamp:
      return for_each(x, n, [=](float v) {
        v = v < low ? low : v;
        return v > high ? high : v;
      });
    case ActivationKind::kLeakyRelu:
      return for_each(x, n, [=](float v) { return v > 0.0f ? v : v * low; });
    case ActivationKind::kHardsigmoid:
      return for_each(x, n, [](float v) { return shifted_relu6(v) / 6.0f; });
    case ActivationKind::kHardswish:
      return for_each(x, n, [](float v) { return v * shifted_relu6(v) / 6.0f; });
    case ActivationKind::kSigmoid:
      return for_each(x, n, [](float v) { return 1.0f / (1.0f + std::exp(-v)); });
    case ActivationKind::kSilu:
      return for_each(x, n, [](float v) { return v / (1.0f + std::exp(-v)); });
    case ActivationKind::kTanh:
      return for_each(x, n, [](float v) { return std::tanh(v); });
    case ActivationKind::kGelu:
      return for_each(x, n, [](float v) { return gated(v, 1.0f + std::erf(v * kSqrtHalf)); });
    case ActivationKind::kGeluTanh:
      return for_each(x, n, [](float v) {
        return gated(v, 1.0f + std::tanh(kSqrtTwoOverPi * (v + 0.044715f * v * v * v)));
      });
  }
}

}  // namespace rushlight::kernels::optimized
