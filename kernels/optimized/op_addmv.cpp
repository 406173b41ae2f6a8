// SPDX-License-Identifier: BSD-3-Clause
// Products with vectors.
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/gemm.h"
#include "kernels/shared/vector_product.h"

namespace rushlight::kernels {

Error mv_out(KernelContext& context, const Tensor& self, const Tensor& vec, Tensor& out);
Error addmv_out(KernelContext& context, const Tensor& self, const Tensor& mat, const Tensor& vec,
                const Scalar& beta, const Scalar& alpha, Tensor& out);
Error dot_out(KernelContext& context, const Tensor& self, const Tensor& tensor, Tensor& out);

namespace optimized {

Error mv_out(KernelContext& context, const Tensor& self, const Tensor& vec, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mv.out");
  if (!all_of(kTypes, self, vec, out)) RL_FALL_BACK("aten::mv.out", mv_out, context, self, vec, out);
  Product product;
  RL_TRY(plan_matrix_vector(self, vec, out, kTypes, &product));
  return multiply(context, Gemm(product));
}

Error addmv_out(KernelContext& context, const Tensor& self, const Tensor& mat, const Tensor& vec,
                const Scalar& beta, const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addmv.out");
  if (!all_of(kTypes, self, mat, vec, out)) {
    RL_FALL_BACK("aten::addmv.out", addmv_out, context, self, mat, vec, beta, alpha, out);
  }
  Product product;
  RL_TRY(plan_vector_bias(self, mat, out, &product));
  RL_TRY(plan_matrix_vector(mat, vec, out, kTypes, &product));
  product.beta = beta;
  product.alpha = alpha;
  return multiply(context, Gemm(product));
}

Error dot_out(KernelContext& context, const Tensor& self, const Tensor& tensor, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::dot.out");
  if (!all_of(kTypes, self, tensor, out)) RL_FALL_BACK("aten::dot.out", dot_out, context, self, tensor, out);
  Product product;
  RL_TRY(plan_dot(self, tensor, out, kTypes, &product));
  return multiply(context, Gemm(product));
}

}  // namespace optimized
}  // namespace rushlight::kernels
