// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// 0 below zero, 1 above, `values` at zero (also -0), and 0 for NaN, which fails both comparisons. Like
// PyTorch, expects one dtype: no promotion.
Error heaviside_out(KernelContext&, const Tensor& self, const Tensor& values, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::heaviside.out");
  RL_TRY(check_same_dtype(self, values, "self and values"));
  RL_TRY(check_same_dtype(self, out, "self and out"));
  const auto step = [](auto x, auto value) {
    using T = decltype(x);
    return x == T(0) ? value : static_cast<T>(x > T(0));
  };
  return elementwise<kTypes>(self.scalar_type(), out, step, self, values);
}

}  // namespace rushlight::kernels
