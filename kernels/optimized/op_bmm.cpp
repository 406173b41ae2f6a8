// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/gemm.h"

namespace rushlight::kernels {

Error bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out);

namespace optimized {

namespace {

constexpr TypeSet kTypes = selected_types("aten::bmm.out");

}  // namespace

Error bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  if (!all_of(kTypes, self, mat2, out)) RL_FALL_BACK("aten::bmm.out", bmm_out, context, self, mat2, out);
  Product product;
  RL_TRY(plan_product(self, mat2, out, 3, kTypes, &product));
  const SizesType sizes[] = {self.sizes()[0], self.sizes()[1], mat2.sizes()[2]};
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  return multiply(context, Gemm(product), Batch(self, mat2, out));
}

Error bmm_out_prepare(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  Product product;
  if (!all_of(kTypes, self, mat2, out) || out.dim() != 3 ||
      plan_product(self, mat2, out, 3, kTypes, &product) != Error::Ok) {
    return Error::Ok;  // an error is the call's
  }
  product.out = Matrix::of(out);
  prepare(context, Gemm(product));
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
