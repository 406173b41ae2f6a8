// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <type_traits>

#include "kernels/backs/backs.h"
#include "kernels/math/rounding.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Rounds towards 0. Integers are unchanged.
Error trunc_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::trunc.out");
  return backs::trunc_out(context, UnaryProblem{self, out}, [&] {
    return rounding_function<kTypes>(self, out, [](auto x) { return std::trunc(x); });
  });
}

// The fractional part; it has the sign of self.
Error frac_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::frac.out") & types::kFloating;
  const auto fraction = [](auto x) {
    if constexpr (std::is_same_v<decltype(x), double>) return x - std::trunc(x);
    return x - rounded_to_zero(x);
  };
  return elementwise<kTypes>(out, fraction, self);
}

}  // namespace rushlight::kernels
