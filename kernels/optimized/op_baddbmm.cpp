// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/gemm.h"

namespace rushlight::kernels {

Error baddbmm_out(KernelContext& context, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                  const Scalar& beta, const Scalar& alpha, Tensor& out);

namespace optimized {

namespace {

constexpr TypeSet kTypes = selected_types("aten::baddbmm.out");

}  // namespace

Error baddbmm_out(KernelContext& context, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                  const Scalar& beta, const Scalar& alpha, Tensor& out) {
  if (!all_of(kTypes, self, batch1, batch2, out)) {
    RL_FALL_BACK("aten::baddbmm.out", baddbmm_out, context, self, batch1, batch2, beta, alpha, out);
  }
  Product product;
  RL_TRY(plan_product(batch1, batch2, out, 3, kTypes, &product));
  const SizesType sizes[] = {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]};
  RL_TRY(broadcast_bias(self, out, sizes, 0, &product.bias));
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  product.beta = beta;
  product.alpha = alpha;
  Batch batch(batch1, batch2, out);
  if (self.dim() == 3 && self.size(0) != 1) batch.bias = self.strides()[0];
  return multiply(context, Gemm(product), batch);
}

Error baddbmm_out_prepare(KernelContext& context, const Tensor& self, const Tensor& batch1,
                          const Tensor& batch2, const Scalar&, const Scalar&, Tensor& out) {
  Product product;
  if (!all_of(kTypes, self, batch1, batch2, out) || out.dim() != 3 ||
      plan_product(batch1, batch2, out, 3, kTypes, &product) != Error::Ok) {
    return Error::Ok;  // an error is the call's
  }
  product.out = Matrix::of(out);
  prepare(context, Gemm(product));
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
