// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/board/convolve.h"

namespace rushlight::kernels::board {

Error convolution(KernelContext&, const ConvolutionProblem& problem) {
  (void)convolve_small(problem, false);
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
