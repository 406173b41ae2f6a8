// SPDX-License-Identifier: BSD-3-Clause
// Gradients of activation functions, dropout and softmax. Softmax needs one sum along each fiber (the vector
// along `dim`); its gradient is (g - sum(g y)) y, that of log-softmax g - exp(y) sum(g).
// Two passes over each fiber, which convert elements to float or double in spans.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/promotion.h"
#include "kernels/reduction/sum.h"
#include "kernels/ukernel/loops.h"
#include "kernels/walk/elementwise.h"
#include "kernels/walk/fibers.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
constexpr double kCubicFactor = 0.044715;

// term(): the summand of one element. gradient(): the gradient of one element, given the sum of its fiber.
struct OfSoftmax {
  template <class T>
  static T term(T gradient, T result) {
    return gradient * result;
  }
  template <class T>
  static T gradient(T gradient, T result, T sum) {
    return (gradient - sum) * result;
  }
};
struct OfLogSoftmax {
  template <class T>
  static T term(T gradient, T) {
    return gradient;
  }
  template <class T>
  static T gradient(T gradient, T result, T sum) {
    return gradient - std::exp(result) * sum;
  }
};

// The result may be the gradient.
template <class F, class T>
[[gnu::always_inline]] inline void gradients(const T* gradient, const T* result, size_t n, T sum, T* out) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) out[i] = F::gradient(gradient[i], result[i], sum);
}
template <class F, class T>
RL_LOOPS void gradients_in_loops(const T* gradient, const T* result, size_t n, T sum, T* out) {
  gradients<F>(gradient, result, n, sum, out);
}

// Fibers of the gradient, of the forward operator's result, and of the written gradient.
template <class F, class T>
void write_gradient(const Fiber* fibers, const View* views) {
  T values[2][kPiece];
  const auto for_each_piece = [&](auto f) {
    for (ptrdiff_t first = 0; first < fibers[0].size; first += kPiece) {
      const auto n = static_cast<size_t>(std::min(fibers[0].size - first, ptrdiff_t{kPiece}));
      const T* held[2];
      for (size_t k = 0; k < 2; ++k) {
        const Fiber& fiber = fibers[k];
        held[k] = held_span(values[k], fiber.data + first * fiber.stride, fiber.stride, views[k].type, n);
      }
      f(held[0], held[1], n, fibers[2].data + first * fibers[2].stride);
    }
  };
  PairwiseSum<T> terms;
  for_each_piece([&](const T* gradient, const T* result, size_t n, char*) {
    add_terms<1>(&terms, n, [=](size_t i) { return F::term(gradient[i], result[i]); });
  });
  const T sum = terms.total();
  const bool stores = are_held<T>(views[2].type, fibers[2].stride);
  for_each_piece([&](const T* gradient, const T* result, size_t n, char* at) {
    T* const out = stores ? reinterpret_cast<T*>(at) : values[0];
    if (ukernel::runs_loops()) {
      gradients_in_loops<F>(gradient, result, n, sum, out);
    } else {
      gradients<F>(gradient, result, n, sum, out);
    }
    if (!stores) convert_span(at, fibers[2].stride, views[2].type, out, sizeof(T), scalar_type_of<T>, n);
  });
}

// Checks, resizes `out` and computes every fiber along `dim`. `out` may be float16 for float32 gradients: the
// forward operator can convert half inputs to float.
template <class F>
Error softmax_gradient(TypeSet types, const Tensor& grad_output, const Tensor& output, int64_t dim,
                       int64_t input_dtype, const Tensor& out) {
  if (!contains(types & types::kFloating, grad_output.scalar_type())) {
    return unsupported_type(grad_output.scalar_type());
  }
  RL_TRY(check_same_dtype(grad_output, output, "grad_output and output"));
  RL_CHECK(input_dtype == static_cast<int64_t>(out.scalar_type()), Error::InvalidType,
           "input_dtype: expected the result's, %s, got number %lld", to_string(out.scalar_type()),
           static_cast<long long>(input_dtype));
  const bool from_half =
      out.scalar_type() == ScalarType::Half && grad_output.scalar_type() == ScalarType::Float;
  if (!from_half) RL_TRY(check_same_dtype(grad_output, out, "grad_output and the result"));
  RL_TRY(check_convertible(out.scalar_type()));
  RL_CHECK(has_sizes(output, grad_output.sizes()), Error::InvalidArgument,
           "grad_output and output: expected the same shape");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, grad_output.dim(), &d));
  RL_TRY(resize_out(out, grad_output.sizes()));
  const View views[] = {at_least_1d(grad_output), at_least_1d(output), at_least_1d(out)};
  constexpr TypeSet kHeld = computed_in(kAnySelectedType & types::kFloating);
  return dispatch<kHeld>(computed_type(grad_output.scalar_type()), [&](auto held) {
    return for_each_fiber({views, 3}, d, [&](const Fiber* fibers) {
      write_gradient<F, typename decltype(held)::Element>(fibers, views);
      return Error::Ok;
    });
  });
}

}  // namespace

Error _softmax_backward_data_out(KernelContext&, const Tensor& grad_output, const Tensor& output, int64_t dim,
                                 int64_t input_dtype, Tensor& grad_input) {
  constexpr TypeSet kTypes = selected_types("aten::_softmax_backward_data.out");
  return softmax_gradient<OfSoftmax>(kTypes, grad_output, output, dim, input_dtype, grad_input);
}

Error _log_softmax_backward_data_out(KernelContext&, const Tensor& grad_output, const Tensor& output,
                                     int64_t dim, int64_t input_dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_log_softmax_backward_data.out");
  return softmax_gradient<OfLogSoftmax>(kTypes, grad_output, output, dim, input_dtype, out);
}

// The gradient where x is above the threshold, or NaN, and 0 elsewhere.
Error threshold_backward_grad_input(KernelContext&, const Tensor& grad_output, const Tensor& self,
                                    const Scalar& threshold, Tensor& grad_input) {
  constexpr TypeSet kTypes = selected_types("aten::threshold_backward.grad_input");
  const auto make = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [limit = threshold.to<T>()](T gradient, T x) { return x <= limit ? T(0) : gradient; };
  };
  return elementwise_for<kTypes>(grad_output.scalar_type(), grad_input, make, grad_output, self);
}

// x Phi(x) has the derivative Phi(x) + x phi(x), where phi(x) = exp(-x^2 / 2) / sqrt(2 pi). With t = tanh(u)
// and u = sqrt(2 / pi) (x + c x^3), x (1 + t) / 2 has the derivative (1 + t + x (1 - t^2) u') / 2.
Error gelu_backward_grad_input(KernelContext&, const Tensor& grad_output, const Tensor& self,
                               std::string_view approximate, Tensor& grad_input) {
  constexpr TypeSet kTypes = selected_types("aten::gelu_backward.grad_input");
  const bool with_tanh = approximate == "tanh";
  RL_CHECK(with_tanh || approximate == "none", Error::InvalidArgument,
           "approximate: expected 'none' or 'tanh', got '%.*s'", static_cast<int>(approximate.size()),
           approximate.data());
  const auto f = [with_tanh](auto gradient, auto x) {
    using T = decltype(x);
    if (!with_tanh) {
      const T below = T(0.5) * (T(1) + std::erf(x * T(kSqrtHalf)));
      const T density = std::exp(T(-0.5) * x * x) * T(0.5 * kSqrtHalf * kTwoOverSqrtPi);
      return gradient * (below + x * density);
    }
    // sqrt(2 / pi)
    const T factor = T(kSqrtHalf * kTwoOverSqrtPi);
    const T hyperbolic = std::tanh(factor * (x + T(kCubicFactor) * x * x * x));
    const T slope = factor * (T(1) + T(3 * kCubicFactor) * x * x);
    return gradient * T(0.5) * (T(1) + hyperbolic + x * (T(1) - hyperbolic * hyperbolic) * slope);
  };
  return elementwise<kTypes>(grad_output.scalar_type(), grad_input, f, grad_output, self);
}

// gradient * mask * scale; the elementwise loop converts the mask to 0 and 1 in the compute dtype.
Error native_dropout_backward_out(KernelContext&, const Tensor& grad_output, const Tensor& mask, double scale,
                                  Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::native_dropout_backward.out");
  RL_CHECK(mask.scalar_type() == ScalarType::Bool, Error::InvalidType, "mask: expected dtype bool, got %s",
           to_string(mask.scalar_type()));
  const auto make = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [factor = static_cast<T>(scale)](T gradient, T kept) { return gradient * (kept * factor); };
  };
  const ScalarType type = floating_type(grad_output.scalar_type());
  return elementwise_for<(kTypes & types::kFloating)>(type, out, make, grad_output, mask);
}

}  // namespace rushlight::kernels
