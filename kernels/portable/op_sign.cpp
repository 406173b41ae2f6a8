// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/arithmetic.h"
#include "kernels/shared/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Of NaN it is 0, as in PyTorch.
Error sign_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sign.out");
  const auto sign = [](auto x) {
    using T = decltype(x);
    return static_cast<T>(static_cast<int>(x > T(0)) - static_cast<int>(is_negative(x)));
  };
  return elementwise<kTypes>(self.scalar_type(), out, sign, self);
}

}  // namespace rushlight::kernels
