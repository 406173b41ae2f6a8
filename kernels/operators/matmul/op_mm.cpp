// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/matmul.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::mm.out");

}  // namespace

// [rows, depth] times [depth, columns], in any layout; a depth of 0 gives zeros.
Error mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  Product product;
  RL_TRY(plan_product(self, mat2, out, 2, kTypes, &product));
  const SizesType sizes[] = {self.sizes()[0], mat2.sizes()[1]};
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  return backs::mm_out(context, ProductProblem{product, mat2}, [&] { return multiply(product); });
}

Error mm_out_prepare(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  Product product;
  if (out.dim() != 2 || plan_product(self, mat2, out, 2, kTypes, &product) != Error::Ok) {
    return Error::Ok;  // the call itself reports errors
  }
  product.out = Matrix::of(out);
  return backs::mm_out_prepare(context, ProductProblem{product, mat2});
}

}  // namespace rushlight::kernels
