// SPDX-License-Identifier: BSD-3-Clause
// The different slices of a tensor, or its different elements: what the unique operators share.
#pragma once

#include <optional>

#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct UniqueRequest {
  std::optional<int64_t> dim;  // slices along it are compared; without it, elements
  bool consecutive;            // equal ones are one only where they follow each other
  bool inverse;
  bool counts;
};

struct UniqueOuts {
  const Tensor& values;
  const Tensor& inverse;  // int64, as counts; without elements where it is not asked for
  const Tensor* counts;
};

// What differs, in ascending order unless `consecutive`; the place of each there; how many were equal.
// Takes 4 bytes of scratch for each slice or element. NaN differs from everything.
// Errors: InvalidArgument (dim; shapes), InvalidType, MemoryAllocationFailed.
Error find_unique(KernelContext& context, TypeSet types, const Tensor& self, const UniqueRequest& request,
                  const UniqueOuts& outs);

}  // namespace rushlight::kernels
