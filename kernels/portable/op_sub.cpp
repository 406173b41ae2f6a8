// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/arithmetic.h"
#include "kernels/shared/elementwise.h"
#include "kernels/shared/promotion.h"
#include "kernels/shared/scalar_tensor.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::sub.out") | selected_types("aten::sub.Scalar_out");

Error subtract(ScalarType compute, const Tensor& self, const Tensor& other, const Scalar& alpha,
               Tensor& out) {
  RL_TRY(check_alpha<kTypes>(alpha, compute));
  const auto scaled_difference = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [factor = alpha.to<T>()](T a, T b) { return wrapping_subtract(a, wrapping_multiply(factor, b)); };
  };
  return elementwise_for<kTypes, Signs::kIgnoredInParts>(compute, out, scaled_difference, self, other);
}

}  // namespace

Error sub_out(KernelContext&, const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  RL_TRY(check_not_bool(self.scalar_type(), "self"));
  RL_TRY(check_not_bool(other.scalar_type(), "other"));
  return subtract(result_type(self, other), self, other, alpha, out);
}

Error sub_scalar_out(KernelContext&, const Tensor& self, const Scalar& other, const Scalar& alpha,
                     Tensor& out) {
  RL_TRY(check_not_bool(self.scalar_type(), "self"));
  RL_TRY(check_not_bool(other.type(), "other"));
  const ScalarType compute = result_type(self, other);
  return subtract(compute, self, ScalarTensor(other, compute), alpha, out);
}

}  // namespace rushlight::kernels
