// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/matmul.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::bmm.out");

}  // namespace

// out[n] = self[n] mat2[n]: [batch, rows, depth] times [batch, depth, columns], in any layout. plan_product()
// checks the sizes once; the matrices of a batch differ in their addresses only.
Error bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  Product product;
  RL_TRY(plan_product(self, mat2, out, 3, kTypes, &product));
  const SizesType sizes[] = {self.sizes()[0], self.sizes()[1], mat2.sizes()[2]};
  RL_TRY(resize_out(out, sizes));
  return backs::bmm_out(context, BatchProblem{product, self, mat2, out}, [&] {
    for (size_t batch = 0; batch < static_cast<size_t>(sizes[0]); ++batch) {
      product.a = Matrix::of(self, batch);
      product.b = Matrix::of(mat2, batch);
      product.out = Matrix::of(out, batch);
      RL_TRY(multiply(product));
    }
    return Error::Ok;
  });
}

Error bmm_out_prepare(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  Product product;
  if (out.dim() != 3 || plan_product(self, mat2, out, 3, kTypes, &product) != Error::Ok) {
    return Error::Ok;  // the call itself reports errors
  }
  return backs::bmm_out_prepare(context, BatchProblem{product, self, mat2, out});
}

}  // namespace rushlight::kernels
