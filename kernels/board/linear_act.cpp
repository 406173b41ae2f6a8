// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/linear.h"
#include "kernels/board/finish.h"
#include "kernels/board/product.h"
#include "kernels/matmul/linear.h"

namespace rushlight::kernels::board {

Error linear_act(KernelContext&, const LinearActProblem& problem) {
  RL_TRY(multiply_linear(problem, multiply_small));
  finish(problem.residual, problem.activation, problem.out);
  return Error::Ok;
}

Error linear_act_clamp(KernelContext&, const LinearActProblem& problem) {
  RL_TRY(multiply_linear(problem, multiply_small));
  finish_clamp(problem.residual, problem.activation, problem.out);
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
