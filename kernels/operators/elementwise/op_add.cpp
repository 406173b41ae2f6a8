// SPDX-License-Identifier: BSD-3-Clause
// self + alpha * other; integers wrap. bool adds as a logical or, since a sum other than 0 is stored as true.
// 16-bit floats compute in float and are rounded once, after the sum.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::add.out") | selected_types("aten::add.Scalar_out");

Error add(ScalarType compute, const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  const auto scaled_sum = [&](auto type) {
    using T = typename decltype(type)::Element;
    // For bool, any nonzero alpha counts as true.
    const T factor = compute == ScalarType::Bool ? static_cast<T>(alpha.to<bool>()) : alpha.to<T>();
    return [factor](T a, T b) { return wrapping_add(a, wrapping_multiply(factor, b)); };
  };
  return elementwise_for<kTypes, Signs::kIgnoredInParts>(compute, out, scaled_sum, self, other);
}

}  // namespace

Error add_out(KernelContext& context, const Tensor& self, const Tensor& other, const Scalar& alpha,
              Tensor& out) {
  const ScalarType compute = result_type(self, other);
  RL_TRY(check_alpha<kTypes>(alpha, compute));
  return backs::add_out(context, ScaledSumProblem{{compute, self, other, out}, alpha},
                        [&] { return add(compute, self, other, alpha, out); });
}

Error add_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                     Tensor& out) {
  const ScalarType compute = result_type(self, other);
  RL_TRY(check_alpha<kTypes>(alpha, compute));
  const ScalarTensor number(other, compute);
  return backs::add_scalar_out(context,
                               ScaledSumProblem{{compute, self, number, out, ScalarOperand::kLast}, alpha},
                               [&] { return add(compute, self, number, alpha, out); });
}

}  // namespace rushlight::kernels
