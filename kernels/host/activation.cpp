// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions with parameters, and gated activations.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/backs/elementwise.h"
#include "kernels/backs/gated_act.h"
#include "kernels/checks/selection.h"
#include "kernels/host/activate.h"
#include "kernels/host/elementwise.h"
#include "kernels/ukernel/elementwise.h"
#include "kernels/ukernel/vector_math.h"
#include "kernels/ukernel/wide_math.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kSpan = 1024;   // floats that stay in the L1 cache between activation and product
constexpr size_t kGrain = 4096;  // elements worth a thread

void multiply_span(const Activation& activation, size_t n, const float* gate, const float* up, float* out) {
  // The activation works in place in the output, which then is multiplied by `up`.
  std::memcpy(out, gate, n * sizeof(float));
  activate(activation, out, n);
  ukernel::mul_f32({1, n, {{out, 0, false}, {up, 0, false}, {}}, out, 0});
}

// a * sigmoid(b), by spans: the sigmoids are in the output until they are multiplied. T is float or double.
// The operands have the shape of the output: none repeats an element beside one that advances.
template <class T, class Sigmoid>
auto gated(Sigmoid sigmoid) {
  return of_pairs<T>([sigmoid](size_t n, const T* a, size_t, const T* b, size_t, T* out) {
    for (size_t first = 0; first < n; first += kSpan) {
      const size_t length = std::min(n - first, kSpan);
      sigmoid(length, b + first, out + first);
      if constexpr (std::is_same_v<T, float>) {
        ukernel::mul_f32({1, length, {{out + first, 0, false}, {a + first, 0, false}, {}}, out + first, 0});
      } else {
        for (size_t i = first; i < first + length; ++i) out[i] *= a[i];
      }
    }
  });
}

}  // namespace

Error gelu(KernelContext& context, const GeluProblem& problem) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (problem.type() == ScalarType::Double) {
      const auto function = problem.with_tanh ? ukernel::gelu_tanh_f64 : ukernel::gelu_f64;
      return elementwise(context, problem.out, of_each<double>(function), problem.self);
    }
  }
  const auto function = problem.with_tanh ? ukernel::gelu_tanh_f32 : ukernel::gelu_f32;
  return elementwise_in_float(context, problem.out, of_each(function), problem.self);
}

Error leaky_relu(KernelContext& context, const LeakyReluProblem& problem) {
  const auto leak = [slope = problem.slope](size_t n, const float* x, float* y) {
    ukernel::leaky_relu_f32(n, x, slope, y);
  };
  return elementwise_in_float(context, problem.out, of_each(leak), problem.self);
}

Error elu(KernelContext& context, const EluProblem& problem) {
  // y = positive * x for x > 0, else negative * (exp(inner * x) - 1).
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (problem.type() == ScalarType::Double) {
      const auto function = [positive = problem.scale, negative = problem.alpha * problem.scale,
                             inner = problem.input_scale](size_t n, const double* x, double* y) {
        ukernel::elu_f64(n, x, positive, negative, inner, y);
      };
      return elementwise(context, problem.out, of_each<double>(function), problem.self);
    }
  }
  const auto positive = static_cast<float>(problem.scale);
  const auto function = [positive, negative = static_cast<float>(problem.alpha) * positive,
                         inner = static_cast<float>(problem.input_scale)](size_t n, const float* x,
                                                                          float* y) {
    ukernel::elu_f32(n, x, positive, negative, inner, y);
  };
  return elementwise_in_float(context, problem.out, of_each(function), problem.self);
}

Error softplus(KernelContext& context, const SoftplusProblem& problem) {
  const auto function = [beta = problem.beta, threshold = problem.threshold](size_t n, const float* x,
                                                                             float* y) {
    ukernel::softplus_f32(n, x, beta, threshold, y);
  };
  return elementwise_in_float(context, problem.out, of_each(function), problem.self);
}

Error clamp(KernelContext& context, const BoundsProblem& problem) {
  const auto bound = [low = problem.low, high = problem.high](size_t n, const float* x, float* y) {
    ukernel::clamp_f32(n, x, low, high, y);
  };
  return elementwise_in_float(context, problem.out, of_each(bound), problem.self);
}

Error gate(KernelContext& context, const BinaryProblem& problem) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (problem.type() == ScalarType::Double)
      return elementwise(context, problem.out, gated<double>(ukernel::sigmoid_f64), problem.a, problem.b);
  }
  return elementwise_in_float(context, problem.out, gated<float>(ukernel::sigmoid_f32), problem.a, problem.b);
}

Error gated_act(KernelContext& context, const GatedActProblem& problem) {
  // A row of the input is [gate, up], each `width` long. Spans of it are shared by threads, so one long row
  // is divided, too.
  const size_t spans = (problem.width + kSpan - 1) / kSpan;
  const size_t grain = std::max<size_t>(kGrain / std::min(problem.width, kSpan), 1);
  context.parallel_for(problem.rows * spans, grain, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      const size_t row = i / spans;
      const size_t first = i % spans * kSpan;
      const float* const gate = problem.input + row * 2 * problem.width + first;
      multiply_span(problem.activation, std::min(problem.width - first, kSpan), gate, gate + problem.width,
                    problem.out + row * problem.width + first);
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
