// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/index/index.h"

namespace rushlight::kernels {

// What the scatter operators write, once `out` is a copy of `self`: target[..., index[i], ...] from
// source[i], with `dim` the indexed dimension. The views have the same rank.
struct Scatter {
  View index;
  View target;
  View source;
  size_t dim;

  // Checks the arguments and copies. Without `src` the source is left to the caller.
  // Errors: InvalidArgument (dim; shapes), InvalidType.
  Error plan(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src, const Tensor& out);
};

}  // namespace rushlight::kernels
