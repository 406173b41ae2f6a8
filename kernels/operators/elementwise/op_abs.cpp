// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/math/arithmetic.h"
#include "kernels/math/complex_function.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// |x|; the lowest integer wraps to itself, and -0 becomes 0. A complex element gives its modulus, in the
// dtype of its parts.
Error abs_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::abs.out");
  return backs::abs_out(context, UnaryProblem{self, out}, [&] {
    const auto absolute = [](auto x) {
      using T = decltype(x);
      if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
      return is_negative(x) ? wrapping_subtract(T(0), x) : x;
    };
    if constexpr ((kTypes & types::kComplex) != 0) {
      if (contains(kTypes & types::kComplex, self.scalar_type())) return complex_measure(self, out, modulus);
    }
    return elementwise<(kTypes & ~types::kComplex)>(out, absolute, self);
  });
}

}  // namespace rushlight::kernels
