// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/matmul.h"

#include "kernels/board/product.h"

namespace rushlight::kernels::board {

Error matmul(KernelContext&, const ProductProblem& problem) { return multiply_small(problem.product); }

Error batch_matmul(KernelContext&, const BatchProblem& problem) {
  Product product = problem.first;
  for (size_t batch = 0; batch < static_cast<size_t>(problem.out.sizes()[0]); ++batch) {
    product.a = Matrix::of(problem.a, batch);
    product.b = Matrix::of(problem.b, batch);
    product.out = Matrix::of(problem.out, batch);
    if (problem.bias != nullptr) {
      RL_TRY(broadcast_bias(*problem.bias, problem.out, problem.out.sizes(), batch, &product.bias));
    }
    RL_TRY(multiply_small(product));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
