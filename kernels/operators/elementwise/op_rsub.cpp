// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// other - alpha * self; integers wrap. The minuend is a 0-dim operand of the loop, which kExact does not
// round to a 16-bit dtype. The result's dtype must be that of `out`, without a conversion.
Error rsub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                      Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::rsub.Scalar_out");
  RL_TRY(check_not_bool(self.scalar_type(), "self"));
  RL_TRY(check_not_bool(other.type(), "other"));
  const ScalarType compute = result_type(self, other);
  RL_CHECK(out.scalar_type() == compute, Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(compute), to_string(out.scalar_type()));
  RL_TRY(check_alpha<kTypes>(alpha, compute));
  const auto difference = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [factor = alpha.to<T>()](T minuend, T x) {
      return wrapping_subtract(minuend, wrapping_multiply(factor, x));
    };
  };
  const ScalarTensor number(other, computed_type(compute));
  const Tensor& minuend = number;
  return backs::rsub_scalar_out(
      context, ScaledSumProblem{{compute, minuend, self, out, ScalarOperand::kFirst}, alpha}, [&] {
        return elementwise_for<kTypes, Signs::kIgnoredInParts, Numbers::kExact>(compute, out, difference,
                                                                                minuend, self);
      });
}

}  // namespace rushlight::kernels
