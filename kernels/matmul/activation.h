// SPDX-License-Identifier: BSD-3-Clause
// The tail of an operator with a fused activation: out = activation(sums + residual), for linear_act and
// convolution_act; also the gate of gated_act.
//
//   Activation activation;
//   RL_TRY(make_activation(name, low, high, &activation));
//   ... stores the sums in out ...
//   add_and_activate(residual, activation, out);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Same order as the names in activation.cpp.
enum class ActivationKind : uint8_t {
  kNone,
  kClamp,        // to [low, high]; NaN stays NaN; low > high gives high
  kLeakyRelu,    // x * low for x <= 0
  kHardsigmoid,  // clamp(x + 3, 0, 6) / 6
  kHardswish,    // x * hardsigmoid(x)
  kSigmoid,
  kSilu,  // x * sigmoid(x)
  kTanh,
  kGelu,      // exact, by erf
  kGeluTanh,  // tanh approximation
};

// An activation with its parameters; low and high are used by kClamp, low also by kLeakyRelu (the slope).
struct Activation {
  ActivationKind kind = ActivationKind::kNone;
  double low = 0;
  double high = 0;
};

// A clamp to [low, high]; either bound may be infinite, and no activation if both are.
[[nodiscard]] inline Activation make_clamp(double low, double high) {
  const bool is_none = low == -__builtin_inf() && high == __builtin_inf();
  return {is_none ? ActivationKind::kNone : ActivationKind::kClamp, low, high};
}

// Reads "none", "clamp", "leaky_relu", "hardsigmoid", "hardswish", "sigmoid", "silu", "tanh", "gelu" or
// "gelu_tanh". InvalidArgument, naming all of these, for any other name.
Error make_activation(std::string_view name, double low, double high, Activation* activation);

// InvalidArgument or InvalidType unless the residual is absent or has the shape and dtype of the result; any
// layout. `input` gives the dtype, `shape` the result's sizes, so `out` need not be resized yet.
Error check_residual(const std::optional<Tensor>& residual, const Tensor& input, Span<const SizesType> shape);

// x = activation(x + r) for each element x of `out` and r of the residual (0 if absent), in place. Half and
// bfloat16 compute in float and round once. NaN stays NaN. Precondition: check_residual(); the dtype is
// selected for an operator of the build that has activations. One pass over `out`, none without residual and
// activation.
void add_and_activate(const std::optional<Tensor>& residual, const Activation& activation, const Tensor& out);

// The same for make_clamp(); does not link the other activations, which need exp, erf and tanh.
void add_and_clamp(const std::optional<Tensor>& residual, const Activation& clamp, const Tensor& out);

// out[i] = activation(gate[i]) * up[i], for n floats. `out` may be `gate` or `up`.
void multiply_by_gate(const Activation& activation, size_t n, const float* gate, const float* up, float* out);

}  // namespace rushlight::kernels
