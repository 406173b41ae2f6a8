// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/math/rounding.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Rounds halves to even. Integers are unchanged.
Error round_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::round.out");
  return backs::round_out(context, UnaryProblem{self, out}, [&] {
    return rounding_function<kTypes>(self, out, [](auto x) { return std::nearbyint(x); });
  });
}

// round(x * 10^decimals) / 10^decimals, for negative decimals round(x / 10^-decimals) * 10^-decimals: powers
// of ten from 1 on are exact for small exponents, their inverses never are. A product that overflows gives
// infinity or NaN, as in PyTorch.
Error round_decimals_out(KernelContext&, const Tensor& self, int64_t decimals, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::round.decimals_out");
  // A separate loop, since compilers vectorize no loop that chooses among three functions.
  if (decimals == 0) return rounding_function<kTypes>(self, out, [](auto x) { return rounded_to_even(x); });
  const double power = std::pow(10.0, std::fabs(static_cast<double>(decimals)));
  const auto round = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [factor = static_cast<T>(power), fractions = decimals > 0](T x) {
      if constexpr (std::is_floating_point_v<T>) {
        return fractions ? rounded_to_even(x * factor) / factor : rounded_to_even(x / factor) * factor;
      }
      return x;
    };
  };
  return elementwise_for<kTypes>(self.scalar_type(), out, round, self);
}

}  // namespace rushlight::kernels
