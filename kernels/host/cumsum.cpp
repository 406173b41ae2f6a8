// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/reduction.h"
#include "kernels/walk/fibers.h"

namespace rushlight::kernels::host {

// Cumulative sum in double, as PyTorch computes it on the CPU.
Error cumsum(KernelContext&, const CumulativeProblem& problem) {
  const View views[] = {at_least_1d(problem.self), at_least_1d(problem.out)};
  return for_each_fiber(views, problem.dim, [](const Fiber* fibers) {
    const char* from = fibers[0].data;
    char* to = fibers[1].data;
    // Sequential: each sum is rounded to float32 only when it is stored.
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i, from += fibers[0].stride, to += fibers[1].stride) {
      sum += static_cast<double>(*reinterpret_cast<const float*>(from));
      *reinterpret_cast<float*>(to) = static_cast<float>(sum);
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels::host
