// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/host/activate.h"

#include "kernels/ukernel/vector_math.h"

namespace rushlight::kernels::host {

// In place over n contiguous floats; one switch for a span instead of one for each element.
void activate(const Activation& activation, float* x, size_t n) {
  const auto low = static_cast<float>(activation.low);
  const auto high = static_cast<float>(activation.high);
  switch (activation.kind) {
    case ActivationKind::kNone:
      return;
    // The comparisons let NaN pass, as the portable code does.
    case ActivationKind::kClamp:
      for (size_t i = 0; i < n; ++i) {
        const float raised = x[i] < low ? low : x[i];
        x[i] = raised > high ? high : raised;
      }
      return;
    default:
      break;
  }
  if constexpr (!kReachesActivations) return;
  switch (activation.kind) {
    case ActivationKind::kNone:
    case ActivationKind::kClamp:
      return;
    case ActivationKind::kLeakyRelu:
      return ukernel::leaky_relu_f32(n, x, low, x);
    case ActivationKind::kHardsigmoid:
      return ukernel::hardsigmoid_f32(n, x, x);
    case ActivationKind::kHardswish:
      return ukernel::hardswish_f32(n, x, x);
    case ActivationKind::kSigmoid:
      return ukernel::sigmoid_f32(n, x, x);
    case ActivationKind::kSilu:
      return ukernel::silu_f32(n, x, x);
    case ActivationKind::kTanh:
      return ukernel::tanh_f32(n, x, x);
    case ActivationKind::kGelu:
      return ukernel::gelu_f32(n, x, x);
    case ActivationKind::kGeluTanh:
      return ukernel::gelu_tanh_f32(n, x, x);
  }
}

}  // namespace rushlight::kernels::host
