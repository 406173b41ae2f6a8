// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

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
  return elementwise<kTypes>(out, [](auto x) { return x - rounded_to_zero(x); }, self);
}

}  // namespace rushlight::kernels
