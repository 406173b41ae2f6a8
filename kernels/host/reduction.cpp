// SPDX-License-Identifier: BSD-3-Clause
// Reductions in float32, or float64 for its own tensors. The variance takes two passes, for accuracy.
#include "kernels/backs/reduction.h"

#include <cmath>

#include "kernels/host/elements.h"
#include "kernels/host/float_reduction.h"

namespace rushlight::kernels::host {

namespace {

// Calls f with a number of the arithmetic of a dtype.
template <class F>
Error in_arithmetic(ScalarType type, F f) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (is_double(type)) return f(double{});
  }
  return f(float{});
}

// Applies one fold to the elements of each output.
template <class T>
Error fold_all(KernelContext& context, const ReductionProblem& problem, const FloatFold<T>& fold) {
  const FloatReduction<T> floats(problem.reduction, problem.type());
  floats.for_each_tile(context, [&](const char* first, size_t n, T* results) {
    floats.fold(fold, first, n, nullptr, results);
  });
  return Error::Ok;
}

Error mean_of(KernelContext& context, const Reduction& reduction, ScalarType type) {
  return in_arithmetic(type, [&](auto number) {
    using T = decltype(number);
    const FloatReduction<T> floats(reduction, type);
    const auto count = static_cast<T>(reduction.count());
    floats.for_each_tile(context, [&](const char* first, size_t n, T* results) {
      floats.fold(Folds<T>::kSum, first, n, nullptr, results);
      for (size_t i = 0; i < n; ++i) results[i] /= count;
    });
    return Error::Ok;
  });
}

}  // namespace

Error sum(KernelContext& context, const ReductionProblem& problem) {
  return in_arithmetic(
      problem.type(), [&](auto number) { return fold_all(context, problem, Folds<decltype(number)>::kSum); });
}

Error mean(KernelContext& context, const ReductionProblem& problem) {
  return mean_of(context, problem.reduction, problem.type());
}

std::optional<Error> euclidean_norm(KernelContext& context, const NormProblem& problem) {
  if (problem.order != 2) return std::nullopt;
  return in_arithmetic(problem.type(), [&](auto number) {
    using T = decltype(number);
    const FloatReduction<T> floats(problem.reduction, problem.type());
    const T centers[kFoldTile] = {};
    floats.for_each_tile(context, [&](const char* first, size_t n, T* results) {
      floats.fold(Folds<T>::kSquares, first, n, centers, results);
      for (size_t i = 0; i < n; ++i) results[i] = std::sqrt(results[i]);
    });
    return Error::Ok;
  });
}

Error variance(KernelContext& context, const VarianceProblem& problem) {
  return in_arithmetic(problem.type(), [&](auto number) {
    using T = decltype(number);
    const FloatReduction<T> floats(problem.reduction, problem.type());
    const auto count = static_cast<T>(problem.reduction.count());
    // Divisor 0 gives NaN or infinity, as in PyTorch.
    const double left = static_cast<double>(problem.reduction.count()) - problem.correction;
    const auto divisor = static_cast<T>(left > 0 ? left : 0);
    floats.for_each_tile(context, [&](const char* first, size_t n, T* results) {
      // Means of a tile of outputs first, then their squared deviations from these.
      T means[kFoldTile];
      floats.fold(Folds<T>::kSum, first, n, nullptr, means);
      for (size_t i = 0; i < n; ++i) means[i] /= count;
      floats.fold(Folds<T>::kSquares, first, n, means, results);
      for (size_t i = 0; i < n; ++i) results[i] /= divisor;
    });
    return Error::Ok;
  });
}

Error variance_and_mean(KernelContext& context, const VarianceAndMeanProblem& problem) {
  // Two reductions over the input: the means inside variance() are not stored.
  RL_TRY(variance(context, problem));
  return mean_of(context, problem.mean_reduction, problem.type());
}

Error amax(KernelContext& context, const ReductionProblem& problem) {
  return in_arithmetic(problem.type(), [&](auto number) {
    return fold_all(context, problem, Folds<decltype(number)>::kLargest);
  });
}

Error amin(KernelContext& context, const ReductionProblem& problem) {
  return in_arithmetic(problem.type(), [&](auto number) {
    return fold_all(context, problem, Folds<decltype(number)>::kSmallest);
  });
}

}  // namespace rushlight::kernels::host
