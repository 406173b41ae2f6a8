// SPDX-License-Identifier: BSD-3-Clause
// addcmul and addcdiv: self + value * tensor1 * tensor2, self + value * tensor1 / tensor2. Integers wrap.
// From left to right: the product with `value` comes first, which decides where an intermediate result
// overflows.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error addcmul_out(KernelContext& context, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                  const Scalar& value, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addcmul.out") & (types::kReal | types::kComplex);
  const ScalarType compute = result_type(self, tensor1, tensor2);
  RL_CHECK(is_floating(compute) || is_complex(compute) || value.is_integral(true), Error::InvalidArgument,
           "value: expected an integer for %s", to_string(compute));
  const auto sum = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [factor = value.to<T>()](T x, T a, T b) {
      // Three operations, each of which wraps or rounds in the compute dtype.
      return wrapping_add(x, wrapping_multiply(wrapping_multiply(factor, a), b));
    };
  };
  const ScaledProductProblem problem = {{self, tensor1, tensor2, out}, value.to<float>()};
  return backs::addcmul_out(context, problem, [&] {
    return elementwise_for<kTypes, Signs::kIgnored>(compute, out, sum, self, tensor1, tensor2);
  });
}

// PyTorch refuses integers here, for which a division would need a rounding mode; so does this.
Error addcdiv_out(KernelContext& context, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                  const Scalar& value, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addcdiv.out") & (types::kFloating | types::kComplex);
  const ScalarType quotient = result_type(tensor1, tensor2);
  RL_CHECK(is_floating(quotient) || is_complex(quotient), Error::InvalidType,
           "tensor1, tensor2: expected a floating or complex dtype, got %s and %s",
           to_string(tensor1.scalar_type()), to_string(tensor2.scalar_type()));
  const auto sum = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [factor = value.to<T>()](T x, T a, T b) { return x + factor * a / b; };
  };
  const ScaledProductProblem problem = {{self, tensor1, tensor2, out}, value.to<float>()};
  return backs::addcdiv_out(context, problem, [&] {
    return elementwise_for<kTypes>(result_type(self, tensor1, tensor2), out, sum, self, tensor1, tensor2);
  });
}

}  // namespace rushlight::kernels
