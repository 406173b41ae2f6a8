// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/scalar_range.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/matmul.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::addmm.out");

}  // namespace

// out = beta * self + alpha * (mat1 mat2), where `self` broadcasts to the result. With beta = 0 `self` is not
// read, so a NaN there does not spread. rows * columns * depth multiply-adds; the accumulator type is in
// accumulator.h.
Error addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                const Scalar& beta, const Scalar& alpha, Tensor& out) {
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
  return backs::addmm_out(context, ProductProblem{product, mat2}, [&] { return multiply(product); });
}

Error addmm_out_prepare(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                        const Scalar&, const Scalar&, Tensor& out) {
  Product product;
  if (out.dim() != 2 || self.scalar_type() != out.scalar_type() ||
      plan_product(mat1, mat2, out, 2, kTypes, &product) != Error::Ok) {
    return Error::Ok;  // the call itself reports errors
  }
  product.out = Matrix::of(out);
  return backs::addmm_out_prepare(context, ProductProblem{product, mat2});
}

}  // namespace rushlight::kernels
