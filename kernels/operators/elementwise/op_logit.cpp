// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// log(x / (1 - x)); with eps, x is first clamped to [eps, 1 - eps]. A negative eps counts as none. Without it
// 0 and 1 give infinities, and values outside [0, 1] NaN.
Error logit_out(KernelContext& context, const Tensor& self, std::optional<double> eps, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::logit.out") & types::kFloating;
  const auto logit = [&](auto type) {
    using T = typename decltype(type)::Element;
    const auto low = static_cast<T>(eps.value_or(-1));
    return [bounded = low >= T(0), low, high = T(1) - low](T x) {
      if (bounded) x = x < low ? low : (x > high ? high : x);
      return std::log(x / (T(1) - x));
    };
  };
  // 1 - eps is rounded to the dtype of the computation.
  const bool wide = self.scalar_type() == ScalarType::Double;
  const double low = eps.value_or(-1);
  const double high = wide ? 1 - low : double{1 - static_cast<float>(low)};
  const double most = std::numeric_limits<double>::infinity();
  const LogitProblem problem = {{self, out}, low >= 0 ? low : -most, low >= 0 ? high : most};
  return backs::logit_out(context, problem, [&] {
    return elementwise_for<kTypes>(floating_type(self.scalar_type()), out, logit, self);
  });
}

}  // namespace rushlight::kernels
