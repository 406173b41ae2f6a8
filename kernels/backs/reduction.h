// SPDX-License-Identifier: BSD-3-Clause
// Problems of reductions, searches and cumulative sums, and their backs. The fronts have refused empty
// reductions where the operator needs an element.
#pragma once

#include <optional>

#include "kernels/reduction/extremum.h"
#include "kernels/reduction/reduce.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Each element of `out` comes from many of `self`; the plan was built for these two tensors. A reduction that
// also converts the dtype goes to the portable code.
struct ReductionProblem {
  const Reduction& reduction;
  const Tensor& self;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard, gnu::always_inline]] bool is_in(TypeSet types) const {
    return contains(types, type()) && out.scalar_type() == type();
  }
};

// The sum of squared differences from the mean, divided by max(count - correction, 0): with a divisor of 0
// the result is NaN, or infinite if the elements differ.
struct VarianceProblem : ReductionProblem {
  double correction;
};

// Also stores the mean, in another tensor of the shape of `out`, by a second plan for that tensor.
struct VarianceAndMeanProblem : VarianceProblem {
  const Reduction& mean_reduction;
  const Tensor& mean;

  [[nodiscard]] bool is_in(TypeSet types) const {
    return VarianceProblem::is_in(types) && mean.scalar_type() == type();
  }
};

// (sum of |x|^order)^(1 / order).
struct NormProblem : ReductionProblem {
  double order;
};

// Search for the largest or smallest elements. Values have the dtype of `self`; indices are int64. NaN wins
// over every other value, and the first of equal elements wins.
struct SearchProblem {
  const ExtremumSearch& search;

  [[nodiscard]] ScalarType type() const { return search.self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// reduction.cpp: float32, float64, float16 and bfloat16, with blocked sums (kernels/ukernel/reduce.h), whose
// order depends on neither the vector width nor the threads, which divide the outputs. The variance takes two
// passes: mean, then squared differences.
Error sum(KernelContext& context, const ReductionProblem& problem);
Error mean(KernelContext& context, const ReductionProblem& problem);
Error variance(KernelContext& context, const VarianceProblem& problem);
Error variance_and_mean(KernelContext& context, const VarianceAndMeanProblem& problem);
// Declines other orders than 2.
std::optional<Error> euclidean_norm(KernelContext& context, const NormProblem& problem);
Error amax(KernelContext& context, const ReductionProblem& problem);
Error amin(KernelContext& context, const ReductionProblem& problem);

// extremum.cpp: float32. argmax and argmin write indices only; max_along and min_along write values too. A
// contiguous fiber is read twice, for the value and for its index; other fibers are searched side by side in
// one pass.
Error max_along(KernelContext& context, const SearchProblem& problem);
Error min_along(KernelContext& context, const SearchProblem& problem);
Error argmax(KernelContext& context, const SearchProblem& problem);
Error argmin(KernelContext& context, const SearchProblem& problem);

}  // namespace host

namespace board {

// mean.cpp: float32, with pairwise sums of blocks, so the error grows with the logarithm of the count.
Error mean(KernelContext& context, const ReductionProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
