// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/quantized_average.h"

#include "kernels/int8/average.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kElements = 65536;  // worth another thread

template <class Problem>
Error average(KernelContext& context, const Problem& problem, size_t elements) {
  const size_t lines = lines_of(problem);
  if (lines == 0) return Error::Ok;
  // Lines that add up to kElements inputs make a piece for one thread.
  context.parallel_for(lines, kElements / (elements / lines + 1) + 1,
                       [&](size_t begin, size_t end, size_t) { average_int8(problem, begin, end); });
  return Error::Ok;
}

}  // namespace

Error quantized_mean(KernelContext& context, const QuantizedMeanProblem& problem) {
  const Reduction& reduction = problem.reduction;
  return average(context, problem, reduction.count() * reduction.kept().count());
}

Error quantized_avg_pool2d(KernelContext& context, const QuantizedAveragePoolProblem& problem) {
  const Pool& pool = problem.pool;
  auto elements = static_cast<size_t>(pool.windows[1].kernel * pool.windows[2].kernel);
  for (size_t d = 0; d < kVolume + 2; ++d) elements *= static_cast<size_t>(pool.pooled.sizes[d]);
  return average(context, problem, elements);
}

}  // namespace rushlight::kernels::host
