// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/checks/scalar_range.h"
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// x * scale above 0, expm1(x * input_scale) * alpha * scale below; expm1 keeps small x exact. The product
// alpha * scale is formed once, in the compute dtype. NaN fails the comparison and stays NaN through expm1.
Error elu_out(KernelContext& context, const Tensor& self, const Scalar& alpha, const Scalar& scale,
              const Scalar& input_scale, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::elu.out");
  const ScalarType type = self.scalar_type();
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(check_scalar_range(alpha, type, "alpha"));
  RL_TRY(check_scalar_range(scale, type, "scale"));
  RL_TRY(check_scalar_range(input_scale, type, "input_scale"));
  const auto elu = [&](auto element) {
    using T = typename decltype(element)::Element;
    const T positive = scale.to<T>();
    return [positive, negative = alpha.to<T>() * positive, inner = input_scale.to<T>()](T x) {
      return x > T(0) ? x * positive : std::expm1(x * inner) * negative;
    };
  };
  const EluProblem problem = {{self, out}, alpha.to<double>(), scale.to<double>(), input_scale.to<double>()};
  return backs::elu_out(context, problem, [&] { return elementwise_for<kTypes>(type, out, elu, self); });
}

}  // namespace rushlight::kernels
