// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/shared/elementwise.h"
#include "kernels/shared/promotion.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error exp_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::exp.out") & types::kFloating;
  return elementwise<kTypes>(
      floating_type(self.scalar_type()), out, [](auto x) { return std::exp(x); }, self);
}

}  // namespace rushlight::kernels
