// SPDX-License-Identifier: BSD-3-Clause
// Gradients of activation functions, dropout and softmax. Softmax needs one sum along each fiber (the vector
// along `dim`), computed in double; its gradient is (g - sum(g y)) y, that of log-softmax g - exp(y) sum(g).
// Two passes over each fiber; a call for each element serves all dtypes with one loop.
#include <cmath>
#include <string_view>

#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/elements/promotion.h"
#include "kernels/walk/elementwise.h"
#include "kernels/walk/fibers.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
constexpr double kCubicFactor = 0.044715;

// term: the summand of one element. gradient: the gradient of one element, given the sum of its fiber.
struct FiberGradient {
  double (*term)(double gradient, double result);
  double (*gradient)(double gradient, double result, double sum);
};

// Checks, resizes `out` and computes every fiber along `dim`. `out` may be float16 for float32 gradients: the
// forward operator can convert half inputs to float.
Error softmax_gradient(TypeSet types, const Tensor& grad_output, const Tensor& output, int64_t dim,
                       int64_t input_dtype, const Tensor& out, const FiberGradient& f) {
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
  RL_TRY(check_loadable(out));
  RL_CHECK(has_sizes(output, grad_output.sizes()), Error::InvalidArgument,
           "grad_output and output: expected the same shape");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, grad_output.dim(), &d));
  RL_TRY(resize_out(out, grad_output.sizes()));
  const View views[] = {at_least_1d(grad_output), at_least_1d(output), at_least_1d(out)};
  return for_each_fiber({views, 3}, d, [&](const Fiber* fibers) {
    const auto read = [&](size_t k, ptrdiff_t i) {
      return load_number(fibers[k].data + i * fibers[k].stride, views[k].type);
    };
    double sum = 0;
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i) sum += f.term(read(0, i), read(1, i));
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i) {
      store_number(fibers[2].data + i * fibers[2].stride, views[2].type,
                   f.gradient(read(0, i), read(1, i), sum));
    }
    return Error::Ok;
  });
}

// The gradients of both need only the result of the forward operator, not its input.
constexpr FiberGradient kOfSoftmax = {
    [](double gradient, double result) { return gradient * result; },
    [](double gradient, double result, double sum) { return (gradient - sum) * result; },
};

constexpr FiberGradient kOfLogSoftmax = {
    [](double gradient, double) { return gradient; },
    [](double gradient, double result, double sum) { return gradient - std::exp(result) * sum; },
};

}  // namespace

Error _softmax_backward_data_out(KernelContext&, const Tensor& grad_output, const Tensor& output, int64_t dim,
                                 int64_t input_dtype, Tensor& grad_input) {
  constexpr TypeSet kTypes = selected_types("aten::_softmax_backward_data.out");
  return softmax_gradient(kTypes, grad_output, output, dim, input_dtype, grad_input, kOfSoftmax);
}

Error _log_softmax_backward_data_out(KernelContext&, const Tensor& grad_output, const Tensor& output,
                                     int64_t dim, int64_t input_dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_log_softmax_backward_data.out");
  return softmax_gradient(kTypes, grad_output, output, dim, input_dtype, out, kOfLogSoftmax);
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
