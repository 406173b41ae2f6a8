// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/elementwise.h"
#include "kernels/shared/promotion.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error add_out(KernelContext&, const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::add.out");
  const ScalarType compute = result_type(self, other);
  return elementwise<kTypes>(
      compute, out, [alpha](auto a, auto b) { return a + alpha.to<decltype(b)>() * b; }, self, other);
}

}  // namespace rushlight::kernels
