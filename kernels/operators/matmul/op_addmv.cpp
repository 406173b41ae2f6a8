// SPDX-License-Identifier: BSD-3-Clause
// Matrix-vector products, dot products and sums of batched products, planned as matrix products: a vector is
// a matrix with one column. One method for all of them costs less code than loops for vectors.
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/vector_product.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error mv_out(KernelContext& context, const Tensor& self, const Tensor& vec, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mv.out");
  Product product;
  RL_TRY(plan_matrix_vector(self, vec, out, kTypes, &product));
  return backs::mv_out(context, ProductProblem{product, vec}, [&] { return multiply(product); });
}

Error addmv_out(KernelContext& context, const Tensor& self, const Tensor& mat, const Tensor& vec,
                const Scalar& beta, const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addmv.out");
  Product product;
  RL_TRY(plan_vector_bias(self, mat, out, &product));
  RL_TRY(plan_matrix_vector(mat, vec, out, kTypes, &product));
  product.beta = beta;
  product.alpha = alpha;
  return backs::addmv_out(context, ProductProblem{product, vec}, [&] { return multiply(product); });
}

Error dot_out(KernelContext& context, const Tensor& self, const Tensor& tensor, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::dot.out");
  Product product;
  RL_TRY(plan_dot(self, tensor, out, kTypes, &product));
  return backs::dot_out(context, ProductProblem{product, tensor}, [&] { return multiply(product); });
}

// The first factor is conjugated, as in PyTorch; for real dtypes this is dot().
Error vdot_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::vdot.out");
  Product product;
  RL_TRY(plan_dot(self, other, out, kTypes, &product));
  product.conjugates_a = true;
  return backs::vdot_out(context, ProductProblem{product, other}, [&] { return multiply(product); });
}

// out = beta * self + alpha * (sum over n of batch1[n] batch2[n]). Each product adds to `out`, which is
// rounded to its dtype every time.
Error addbmm_out(KernelContext& context, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                 const Scalar& beta, const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addbmm.out");
  Product product;
  RL_TRY(plan_product(batch1, batch2, out, 3, kTypes, &product));
  const SizesType sizes[] = {batch1.sizes()[1], batch2.sizes()[2]};
  RL_TRY(broadcast_bias(self, out, sizes, 0, &product.bias));
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  product.beta = beta;
  product.alpha = alpha;
  const auto count = static_cast<size_t>(batch1.sizes()[0]);
  if (count == 0) {  // adds a product of depth 0, which leaves beta * self
    product.depth = 0;
    return multiply(product);
  }
  return backs::addbmm_out(context, BatchProblem{product, batch1, batch2, out}, [&] {
    for (size_t n = 0; n < count; ++n) {
      product.a = Matrix::of(batch1, n);
      product.b = Matrix::of(batch2, n);
      RL_TRY(multiply(product));
      // From the second product on the sum so far is the bias.
      product.bias = product.out;
      product.beta = 1;
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
