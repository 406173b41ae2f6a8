// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/matmul.h"

#include "kernels/board/product.h"

namespace rushlight::kernels::board {

Error matmul(KernelContext&, const ProductProblem& problem) { return multiply_small(problem.product); }

}  // namespace rushlight::kernels::board
