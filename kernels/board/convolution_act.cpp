// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/board/convolve.h"
#include "kernels/board/finish.h"

namespace rushlight::kernels::board {

namespace {

// Fuses relu into the convolution if nothing else follows it; otherwise `finish` applies what follows.
template <class F>
Error convolve(const ConvolutionActProblem& problem, F finish) {
  bool is_finished;
  const bool rectifies = !problem.residual && is_rectifier(problem.activation);
  RL_TRY(convolve_small(problem, rectifies, &is_finished));
  if (!is_finished) finish(problem.residual, problem.activation, problem.out);
  return Error::Ok;
}

}  // namespace

Error convolution_act(KernelContext&, const ConvolutionActProblem& problem) {
  return convolve(problem, finish);
}

Error convolution_act_clamp(KernelContext&, const ConvolutionActProblem& problem) {
  return convolve(problem, finish_clamp);
}

}  // namespace rushlight::kernels::board
