// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// -x; the lowest integer wraps to itself, unsigned values wrap, and a floating 0 becomes -0.
Error neg_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::neg.out");
  return backs::neg_out(context, UnaryProblem{self, out}, [&] {
    const auto negate = [](auto x) {
      if constexpr (std::is_floating_point_v<decltype(x)>) return -x;
      return wrapping_subtract(decltype(x)(0), x);
    };
    return elementwise<kTypes, Signs::kIgnoredInParts>(out, negate, self);
  });
}

}  // namespace rushlight::kernels
