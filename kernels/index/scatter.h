// SPDX-License-Identifier: BSD-3-Clause
// Argument checks shared by the scatter operators: scatter, scatter_add and scatter_reduce.
#pragma once

#include "kernels/index/index.h"

namespace rushlight::kernels {

// The views that the scatter operators need after they copied `self` to `out`: source element i goes to
// target[..., index[i], ...] along `dim`. The views have the same rank. Indices are checked later, when they
// are used.
struct Scatter {
  View index;
  View target;
  View source;
  size_t dim;

  // Checks the arguments and copies `self` to `out`. Without `src` the caller sets `source`. Errors:
  // InvalidArgument (dim, shapes), InvalidType.
  Error plan(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src, const Tensor& out);
};

}  // namespace rushlight::kernels
