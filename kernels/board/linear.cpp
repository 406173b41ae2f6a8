// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/linear.h"

#include "kernels/board/product.h"
#include "kernels/matmul/linear.h"

namespace rushlight::kernels::board {

Error linear(KernelContext&, const LinearProblem& problem) {
  return multiply_linear(problem, multiply_small);
}

}  // namespace rushlight::kernels::board
