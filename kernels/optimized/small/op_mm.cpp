// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/small/product.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out);

namespace optimized {

Error mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mm.out");
  if (!all_of(kTypes, self, out)) RL_FALL_BACK("aten::mm.out", mm_out, context, self, mat2, out);
  Product product;
  RL_TRY(plan_product(self, mat2, out, 2, kTypes, &product));
  const SizesType sizes[] = {self.sizes()[0], mat2.sizes()[1]};
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  return multiply_small(product);
}

}  // namespace optimized
}  // namespace rushlight::kernels
