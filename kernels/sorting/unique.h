// SPDX-License-Identifier: BSD-3-Clause
// Distinct slices or elements of a tensor, for the unique operators. Parts are compared in place; only their
// positions are sorted. Cost: n log n comparisons of parts, n if `consecutive`.
#pragma once

#include <optional>

#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The options of the unique operators.
struct UniqueRequest {
  std::optional<int64_t> dim;  // compares slices along it; without it, elements
  bool consecutive;            // merges adjacent equal parts only
  // Results besides the values, which always come.
  bool inverse;
  bool counts;
};

// The results; resized by find_unique().
struct UniqueOuts {
  const Tensor& values;
  const Tensor& inverse;  // int64, as counts; without elements if not requested
  const Tensor* counts;
};

// Writes the distinct parts (in ascending order unless `consecutive`), the index of each part among them, and
// the number of equal parts. NaN differs from everything. Scratch memory: 4 bytes for each slice or element.
// Errors: InvalidArgument (dim, shapes), InvalidType, MemoryAllocationFailed.
Error find_unique(KernelContext& context, TypeSet types, const Tensor& self, const UniqueRequest& request,
                  const UniqueOuts& outs);

}  // namespace rushlight::kernels
