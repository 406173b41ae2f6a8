// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/shared/elementwise.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error elu_out(KernelContext&, const Tensor& self, const Scalar& alpha, const Scalar& scale,
              const Scalar& input_scale, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::elu.out");
  const auto elu = [&](auto type) {
    using T = typename decltype(type)::Element;
    const T positive = scale.to<T>();
    return [positive, negative = alpha.to<T>() * positive, inner = input_scale.to<T>()](T x) {
      return x > T(0) ? x * positive : std::expm1(x * inner) * negative;
    };
  };
  return elementwise_for<kTypes>(self.scalar_type(), out, elu, self);
}

}  // namespace rushlight::kernels
