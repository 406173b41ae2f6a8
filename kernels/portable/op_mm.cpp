// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/matmul.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error mm_out(KernelContext&, const Tensor& self, const Tensor& mat2, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mm.out");
  Product product;
  RL_TRY(plan_product(self, mat2, out, 2, kTypes, &product));
  const SizesType sizes[] = {self.sizes()[0], mat2.sizes()[1]};
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  return multiply(product);
}

}  // namespace rushlight::kernels
