// SPDX-License-Identifier: BSD-3-Clause
// Argument checks and views of gather and index_select, shared by portable code and backs. Plans hold
// addresses, not the tensors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk/paired_axes.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A checked gather: target[..., i, ...] = source[..., index[..., i, ...], ...] along `dim`. The index and the
// target have one shape. The views have at least one dimension, also for 0-dim tensors.
struct GatherPlan {
  View source;
  View index;
  View target;
  size_t dim = 0;
  bool is_empty = false;  // nothing else is set then
};

// Checks the arguments and resizes `out` to the shape of `index`, which may be smaller than `self` along the
// other dimensions. An empty index may have any dtype. Indices are not read. InvalidArgument, InvalidType.
Error plan_gather(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out, GatherPlan* plan);

// A checked index_select: source and target differ in size along `dim` only. `others` is in the order of the
// source's memory.
struct IndexSelectPlan {
  View source;
  View target;
  PairedAxes others;  // axes of source and target except `dim`
  size_t dim = 0;
};

// Checks the arguments and resizes `out` to the shape of `self` with as many slices as `index`, of rank 0 or
// 1, has elements. Indices are not read. InvalidArgument, InvalidType.
Error plan_index_select(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out,
                        IndexSelectPlan* plan);

}  // namespace rushlight::kernels
