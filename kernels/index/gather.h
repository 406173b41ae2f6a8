// SPDX-License-Identifier: BSD-3-Clause
// What kernels of gather and index_select share: their arguments, checked, and where the elements lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk/paired_axes.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Tensors without dimensions have one here.
struct GatherPlan {
  View source;
  View index;
  View target;
  size_t dim = 0;
  bool is_empty = false;  // then nothing else is set
};

// Gives `out` the shape of the index. InvalidArgument, InvalidType.
Error plan_gather(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out, GatherPlan* plan);

struct IndexSelectPlan {
  View source;
  View target;
  PairedAxes others;  // of source and target, without the dimension
  size_t dim = 0;
};

// Gives `out` its shape. InvalidArgument, InvalidType.
Error plan_index_select(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out,
                        IndexSelectPlan* plan);

}  // namespace rushlight::kernels
