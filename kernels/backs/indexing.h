// SPDX-License-Identifier: BSD-3-Clause
// Problems of operators that read elements which index tensors name, and their backs, which take every dtype.
// Indices are checked as they are used. Errors of all backs: InvalidArgument (an index out of range).
#pragma once

#include <optional>

#include "kernels/index/gather.h"
#include "kernels/index/indexing.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `out` has its shape, with elements.
struct GatherProblem {
  const GatherPlan& plan;
};

// `out` has its shape.
struct IndexSelectProblem {
  const IndexSelectPlan& plan;
  const Tensor& index;
  size_t count;  // of the indices; 0 where `out` is empty
};

// out = self[indices]. `out` has the shape of the plan's result.
struct IndexProblem {
  Indexing& plan;
  const Tensor& self;
  Span<const std::optional<Tensor>> indices;
  const Tensor& out;
};

namespace host {

// gather.cpp
Error gather(KernelContext& context, const GatherProblem& problem);

// index_select.cpp
Error index_select(KernelContext& context, const IndexSelectProblem& problem);

// index.cpp
Error index(KernelContext& context, const IndexProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
