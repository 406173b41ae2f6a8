// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/board/convolve.h"
#include "kernels/board/finish.h"

namespace rushlight::kernels::board {

namespace {

// Fuses relu into the convolution if nothing else follows it. Returns true if the result is finished.
bool convolve(const ConvolutionActProblem& problem) {
  return convolve_small(problem, !problem.residual && is_rectifier(problem.activation));
}

}  // namespace

Error convolution_act(KernelContext&, const ConvolutionActProblem& problem) {
  if (!convolve(problem)) finish(problem.residual, problem.activation, problem.out);
  return Error::Ok;
}

Error convolution_act_clamp(KernelContext&, const ConvolutionActProblem& problem) {
  if (!convolve(problem)) finish_clamp(problem.residual, problem.activation, problem.out);
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
