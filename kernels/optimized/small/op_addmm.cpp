// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/small/product.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                const Scalar& beta, const Scalar& alpha, Tensor& out);

namespace optimized {

Error addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                const Scalar& beta, const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addmm.out");
  if (!all_of(kTypes, mat1, out)) {
    RL_FALL_BACK("aten::addmm.out", addmm_out, context, self, mat1, mat2, beta, alpha, out);
  }
  Product product;
  RL_TRY(plan_product(mat1, mat2, out, 2, kTypes, &product));
  const SizesType sizes[] = {mat1.sizes()[0], mat2.sizes()[1]};
  RL_TRY(broadcast_bias(self, out, sizes, 0, &product.bias));
  RL_TRY(check_scalar_range<kTypes>(beta, out.scalar_type(), "beta"));
  RL_TRY(check_scalar_range<kTypes>(alpha, out.scalar_type(), "alpha"));
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  product.beta = beta;
  product.alpha = alpha;
  return multiply_small(product);
}

}  // namespace optimized
}  // namespace rushlight::kernels
