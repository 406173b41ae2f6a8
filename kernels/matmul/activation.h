// SPDX-License-Identifier: BSD-3-Clause
// What an operator with an activation does to its sums: out = activation(sums + residual).
//
//   Activation activation;
//   RL_TRY(make_activation(name, low, high, &activation));
//   ... the sums go to out ...
//   add_and_activate(residual, activation, out);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// In the order of their names in activation.cpp.
enum class ActivationKind : uint8_t {
  kNone,
  kClamp,        // to low and high; NaN stays, and where low is above high everything else is high
  kLeakyRelu,    // x * low for x below 0
  kHardsigmoid,  // x + 3 within 0 to 6, divided by 6
  kHardswish,    // x times that
  kSigmoid,
  kSilu,  // x * sigmoid(x)
  kTanh,
  kGelu,      // by erf
  kGeluTanh,  // by tanh
};

struct Activation {
  ActivationKind kind = ActivationKind::kNone;
  double low = 0;
  double high = 0;
};

// To low and high, either of which may be infinite.
[[nodiscard]] inline Activation make_clamp(double low, double high) {
  const bool is_none = low == -__builtin_inf() && high == __builtin_inf();
  return {is_none ? ActivationKind::kNone : ActivationKind::kClamp, low, high};
}

// "none", "clamp", "leaky_relu", "hardsigmoid", "hardswish", "sigmoid", "silu", "tanh", "gelu" and
// "gelu_tanh". InvalidArgument with that name and all that there are, for any other.
Error make_activation(std::string_view name, double low, double high, Activation* activation);

// A residual has the shape and dtype of the result, in any layout. InvalidArgument, InvalidType.
Error check_residual(const std::optional<Tensor>& residual, const Tensor& input, Span<const SizesType> shape);

// Replaces x by activation(x + r) for each element x of `out` and r of the residual, 0 without one. Half and
// bfloat16 are held in float, and rounded once. Residual and dtype were checked.
void add_and_activate(const std::optional<Tensor>& residual, const Activation& activation, const Tensor& out);

// The same of make_clamp(), without what others take.
void add_and_clamp(const std::optional<Tensor>& residual, const Activation& clamp, const Tensor& out);

// out[i] = activation(gate[i]) * up[i], for n floats.
void multiply_by_gate(const Activation& activation, size_t n, const float* gate, const float* up, float* out);

}  // namespace rushlight::kernels
