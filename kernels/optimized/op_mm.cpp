// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/gemm.h"

namespace rushlight::kernels {

Error mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out);

namespace optimized {

namespace {

constexpr TypeSet kTypes = selected_types("aten::mm.out");

}  // namespace

Error mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  if (!all_of(kTypes, self, mat2, out)) RL_FALL_BACK("aten::mm.out", mm_out, context, self, mat2, out);
  Product product;
  RL_TRY(plan_product(self, mat2, out, 2, kTypes, &product));
  const SizesType sizes[] = {self.sizes()[0], mat2.sizes()[1]};
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  Gemm gemm(product);
  gemm.packed_b = static_cast<const float*>(context.prepared());
  return multiply(context, gemm);
}

Error mm_out_prepare(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  Product product;
  if (!all_of(kTypes, self, mat2, out) || out.dim() != 2 ||
      plan_product(self, mat2, out, 2, kTypes, &product) != Error::Ok) {
    return Error::Ok;  // an error is the call's
  }
  product.out = Matrix::of(out);
  prepare(context, Gemm(product), mat2);
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
