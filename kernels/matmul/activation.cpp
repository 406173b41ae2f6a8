// SPDX-License-Identifier: BSD-3-Clause
// One loop with a switch for each element: the portable code favors size. Backs fuse activations or have
// vector loops.
#include "kernels/matmul/activation.h"

#include <algorithm>
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/accumulator.h"
#include "kernels/walk/row_major.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("rushlight::convolution_act.out") | selected_types("rushlight::linear_act.out") |
    selected_types("rushlight::convolution_act.clamp_out") |
    selected_types("rushlight::linear_act.clamp_out") | selected_types("rushlight::gated_act.out");

// In the order of ActivationKind: make_activation() counts the names while it scans the list.
constexpr char kNames[] =
    "none, clamp, leaky_relu, hardsigmoid, hardswish, sigmoid, silu, tanh, gelu, gelu_tanh";

template <class T>
T clamped(T x, T low, T high) {
  // NaN fails both comparisons and passes.
  x = x < low ? low : x;
  return x > high ? high : x;
}

template <class T>
T relu6_of_shifted(T x) {
  const T shifted = x + T(3);
  return shifted < T(0) ? T(0) : (shifted > T(6) ? T(6) : shifted);
}

// x / 2 * gate. If the gate is 0 the product is 0, also for infinite x.
template <class T>
T gated(T x, T gate) {
  return gate == T(0) ? -T(0) : T(0.5) * x * gate;
}

template <class T>
T activate(ActivationKind kind, T low, T high, T x) {
  // Constants of GELU: x / 2 (1 + erf(x / sqrt 2)), and its tanh form with sqrt(2 / pi) (x + 0.044715 x^3).
  constexpr T kSqrtHalf = T(0.70710678118654752440);
  constexpr T kSqrtTwoOverPi = T(0.79788456080286535588);
  switch (kind) {
    case ActivationKind::kNone:
      break;
    case ActivationKind::kClamp:
      return clamped(x, low, high);
    case ActivationKind::kLeakyRelu:
      return x > T(0) ? x : x * low;
    case ActivationKind::kHardsigmoid:
      return relu6_of_shifted(x) / T(6);
    case ActivationKind::kHardswish:
      return x * relu6_of_shifted(x) / T(6);
    case ActivationKind::kSigmoid:
      // For large negative x exp(-x) is infinite, which gives the limit 0.
      return T(1) / (T(1) + std::exp(-x));
    case ActivationKind::kSilu:
      return x / (T(1) + std::exp(-x));
    case ActivationKind::kTanh:
      return std::tanh(x);
    case ActivationKind::kGelu:
      return gated(x, T(1) + std::erf(x * kSqrtHalf));
    case ActivationKind::kGeluTanh:
      return gated(x, T(1) + std::tanh(kSqrtTwoOverPi * (x + T(0.044715) * x * x * x)));
  }
  return x;
}

// Applies finish(x + r) to each element.
template <class T, class F>
void finish_all(const Tensor* residual, const Tensor& out, F finish) {
  T* to = out.mutable_data_ptr<T>();
  // Without a residual the order does not matter, so elements are visited as stored; with one, both tensors
  // are walked in row-major order, since their layouts may differ.
  const size_t n = out.numel();
  if (residual == nullptr) {
    for (size_t i = 0; i < n; ++i) to[i] = narrow<T>(finish(widen(to[i])));
  } else {
    RowMajorCursor sums(out);
    RowMajorCursor added(*residual);
    for (size_t i = 0; i < n; ++i, sums.advance(), added.advance()) {
      T* sum = reinterpret_cast<T*>(sums.get());
      *sum = narrow<T>(finish(widen(*sum) + widen(*reinterpret_cast<const T*>(added.get()))));
    }
  }
}

}  // namespace

Error make_activation(std::string_view name, double low, double high, Activation* activation) {
  std::string_view rest = kNames;
  for (uint8_t kind = 0; !rest.empty(); ++kind) {
    const size_t end = std::min(rest.find(','), rest.size());
    if (rest.substr(0, end) == name) {
      *activation = {static_cast<ActivationKind>(kind), low, high};
      return Error::Ok;
    }
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  RL_CHECK(false, Error::InvalidArgument, "activation: expected one of %s, got '%.*s'", kNames,
           static_cast<int>(name.size()), name.data());
}

Error check_residual(const std::optional<Tensor>& residual, const Tensor& input,
                     Span<const SizesType> shape) {
  if (!residual) return Error::Ok;
  RL_TRY(check_same_dtype(input, *residual, "input and residual"));
  // No broadcasting: the residual has the exact shape of the result.
  bool same = residual->sizes().size() == shape.size();
  for (size_t d = 0; same && d < shape.size(); ++d) same = residual->sizes()[d] == shape[d];
  RL_CHECK(same, Error::InvalidArgument, "residual: expected the shape of the result");
  return Error::Ok;
}

void add_and_activate(const std::optional<Tensor>& residual, const Activation& activation,
                      const Tensor& out) {
  if (!residual && activation.kind == ActivationKind::kNone) return;
  // The dtype was checked with the sums, so dispatch() does not fail.
  (void)dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    using A = Accumulator<T>;
    const auto low = static_cast<A>(activation.low);
    const auto high = static_cast<A>(activation.high);
    finish_all<T>(residual ? &*residual : nullptr, out,
                  [&](A x) { return activate<A>(activation.kind, low, high, x); });
    return Error::Ok;
  });
}

// A separate loop, so that a build without other activations links no exp(), erf() or tanh().
void add_and_clamp(const std::optional<Tensor>& residual, const Activation& clamp, const Tensor& out) {
  if (!residual && clamp.kind == ActivationKind::kNone) return;
  (void)dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    using A = Accumulator<T>;
    const auto low = static_cast<A>(clamp.low);
    const auto high = static_cast<A>(clamp.high);
    finish_all<T>(residual ? &*residual : nullptr, out, [&](A x) { return clamped(x, low, high); });
    return Error::Ok;
  });
}

// activation(gate) * up: SwiGLU and its relatives (Shazeer, "GLU Variants Improve Transformer", 2020).
void multiply_by_gate(const Activation& activation, size_t n, const float* gate, const float* up,
                      float* out) {
  const auto low = static_cast<float>(activation.low);
  const auto high = static_cast<float>(activation.high);
  for (size_t i = 0; i < n; ++i) out[i] = activate<float>(activation.kind, low, high, gate[i]) * up[i];
}

}  // namespace rushlight::kernels
