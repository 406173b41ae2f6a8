// SPDX-License-Identifier: BSD-3-Clause
// self - alpha * other; integers wrap. PyTorch refuses bool operands, so this does, too. 16-bit floats
// compute in float and are rounded once, after the difference.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::sub.out") | selected_types("aten::sub.Scalar_out");

Error subtract(ScalarType compute, const Tensor& self, const Tensor& other, const Scalar& alpha,
               Tensor& out) {
  const auto scaled_difference = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [factor = alpha.to<T>()](T a, T b) { return wrapping_subtract(a, wrapping_multiply(factor, b)); };
  };
  return elementwise_for<kTypes, Signs::kIgnoredInParts>(compute, out, scaled_difference, self, other);
}

}  // namespace

Error sub_out(KernelContext& context, const Tensor& self, const Tensor& other, const Scalar& alpha,
              Tensor& out) {
  RL_TRY(check_not_bool(self.scalar_type(), "self"));
  RL_TRY(check_not_bool(other.scalar_type(), "other"));
  const ScalarType compute = result_type(self, other);
  RL_TRY(check_alpha<kTypes>(alpha, compute));
  return backs::sub_out(context, ScaledSumProblem{{compute, self, other, out}, alpha},
                        [&] { return subtract(compute, self, other, alpha, out); });
}

Error sub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                     Tensor& out) {
  RL_TRY(check_not_bool(self.scalar_type(), "self"));
  RL_TRY(check_not_bool(other.type(), "other"));
  const ScalarType compute = result_type(self, other);
  RL_TRY(check_alpha<kTypes>(alpha, compute));
  const ScalarTensor number(other, compute);
  return backs::sub_scalar_out(context,
                               ScaledSumProblem{{compute, self, number, out, ScalarOperand::kLast}, alpha},
                               [&] { return subtract(compute, self, number, alpha, out); });
}

}  // namespace rushlight::kernels
