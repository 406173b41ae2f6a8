// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/board/convolve.h"

namespace rushlight::kernels::board {

Error convolution(KernelContext&, const ConvolutionProblem& problem) {
  bool is_rectified;
  return convolve_small(problem, false, &is_rectified);
}

}  // namespace rushlight::kernels::board
