// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/matmul.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::baddbmm.out");

}  // namespace

// out[n] = beta * self[n] + alpha * (batch1[n] batch2[n]), where `self` broadcasts to the result.
Error baddbmm_out(KernelContext& context, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                  const Scalar& beta, const Scalar& alpha, Tensor& out) {
  Product product;
  RL_TRY(plan_product(batch1, batch2, out, 3, kTypes, &product));
  const SizesType sizes[] = {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]};
  RL_TRY(broadcast_bias(self, out, sizes, 0, &product.bias));
  RL_TRY(resize_out(out, sizes));
  product.beta = beta;
  product.alpha = alpha;
  return backs::baddbmm_out(context, BatchProblem{product, batch1, batch2, out, &self}, [&] {
    for (size_t batch = 0; batch < static_cast<size_t>(sizes[0]); ++batch) {
      product.a = Matrix::of(batch1, batch);
      product.b = Matrix::of(batch2, batch);
      product.out = Matrix::of(out, batch);
      // A bias without a batch dimension is the same matrix each time.
      RL_TRY(broadcast_bias(self, out, sizes, batch, &product.bias));
      RL_TRY(multiply(product));
    }
    return Error::Ok;
  });
}

Error baddbmm_out_prepare(KernelContext& context, const Tensor& self, const Tensor& batch1,
                          const Tensor& batch2, const Scalar&, const Scalar&, Tensor& out) {
  Product product;
  if (out.dim() != 3 || self.scalar_type() != out.scalar_type() ||
      plan_product(batch1, batch2, out, 3, kTypes, &product) != Error::Ok) {
    return Error::Ok;  // the call itself reports errors
  }
  return backs::baddbmm_out_prepare(context, BatchProblem{product, batch1, batch2, out});
}

}  // namespace rushlight::kernels
