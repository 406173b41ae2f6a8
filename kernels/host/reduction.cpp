// SPDX-License-Identifier: BSD-3-Clause
// Reductions of float32. The variance takes two passes, for accuracy.
#include "kernels/backs/reduction.h"

#include "kernels/host/float_reduction.h"

namespace rushlight::kernels::host {

namespace {

// Applies one fold to the elements of each output.
Error fold_all(KernelContext& context, const Reduction& reduction, const FloatFold& fold) {
  const FloatReduction floats(reduction);
  floats.for_each_tile(context, [&](const char* first, size_t n, float* results) {
    floats.fold(fold, first, n, nullptr, results);
  });
  return Error::Ok;
}

Error mean_of(KernelContext& context, const Reduction& reduction) {
  const FloatReduction floats(reduction);
  const auto count = static_cast<float>(reduction.count());
  floats.for_each_tile(context, [&](const char* first, size_t n, float* results) {
    floats.fold(kSumFold, first, n, nullptr, results);
    for (size_t i = 0; i < n; ++i) results[i] /= count;
  });
  return Error::Ok;
}

}  // namespace

Error sum(KernelContext& context, const ReductionProblem& problem) {
  return fold_all(context, problem.reduction, kSumFold);
}

Error mean(KernelContext& context, const ReductionProblem& problem) {
  return mean_of(context, problem.reduction);
}

Error variance(KernelContext& context, const VarianceProblem& problem) {
  const FloatReduction floats(problem.reduction);
  const auto count = static_cast<float>(problem.reduction.count());
  // Divisor 0 gives NaN or infinity, as in PyTorch.
  const double left = static_cast<double>(problem.reduction.count()) - problem.correction;
  const auto divisor = static_cast<float>(left > 0 ? left : 0);
  floats.for_each_tile(context, [&](const char* first, size_t n, float* results) {
    // Means of a tile of outputs first, then their squared deviations from these.
    float means[kFoldTile];
    floats.fold(kSumFold, first, n, nullptr, means);
    for (size_t i = 0; i < n; ++i) means[i] /= count;
    floats.fold(kSquaresFold, first, n, means, results);
    for (size_t i = 0; i < n; ++i) results[i] /= divisor;
  });
  return Error::Ok;
}

Error variance_and_mean(KernelContext& context, const VarianceAndMeanProblem& problem) {
  // Two reductions over the input: the means inside variance() are not stored.
  RL_TRY(variance(context, problem));
  return mean_of(context, problem.mean_reduction);
}

Error amax(KernelContext& context, const ReductionProblem& problem) {
  return fold_all(context, problem.reduction, kLargestFold);
}

Error amin(KernelContext& context, const ReductionProblem& problem) {
  return fold_all(context, problem.reduction, kSmallestFold);
}

}  // namespace rushlight::kernels::host
