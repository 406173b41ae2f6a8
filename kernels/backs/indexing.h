// SPDX-License-Identifier: BSD-3-Clause
// Problems of operators that read elements at the positions in index tensors, and their backs, which take
// every dtype. Backs check each index as they use it, since the memory of an index may change between a check
// and a use. Errors of all backs: InvalidArgument (index out of range); a part of `out` may have been written
// by then.
#pragma once

#include <optional>

#include "kernels/index/gather.h"
#include "kernels/index/indexing.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out[..., i, ...] = source[..., index[i], ...] along plan.dim, with nonnegative indices. `out` has its
// shape, with at least one element.
struct GatherProblem {
  const GatherPlan& plan;
};

// Slices of the source along plan.dim, in the order of a vector of nonnegative indices. `out` has its shape.
struct IndexSelectProblem {
  const IndexSelectPlan& plan;
  const Tensor& index;
  size_t count;  // number of indices; 0 if `out` is empty
};

// out = self[indices] with integer tensors and masks; negative indices count from the end. `out` has the
// shape that the plan computed.
struct IndexProblem {
  Indexing& plan;
  const Tensor& self;
  Span<const std::optional<Tensor>> indices;
  const Tensor& out;
};

namespace host {

// None of these needs scratch memory; all run on one thread.

// gather.cpp
Error gather(KernelContext& context, const GatherProblem& problem);

// index_select.cpp
Error index_select(KernelContext& context, const IndexSelectProblem& problem);

// index.cpp
Error index(KernelContext& context, const IndexProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
