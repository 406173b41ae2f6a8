// SPDX-License-Identifier: BSD-3-Clause
// The views that index_add, index_copy, index_reduce and index_fill need after they copied `self` to `out`:
// the slices of `target` along `dim` that the index selects. The views go to copy_indexed() or
// combine_indexed(), which read and check the indices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct IndexUpdate {
  View index;  // expanded to the shape of the source
  View target;
  View source;
  size_t dim;

  // Checks the arguments and copies `self` to `out`, which it resizes. `source` has the dtype of `self` and
  // its shape except along `dim`, where it has one slice for each index. Errors: InvalidArgument (dim,
  // shapes), InvalidType.
  Error plan(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Tensor& out);

  // The same with a source that repeats `number`, which has one element of the dtype of `self` and must
  // outlive the view.
  Error plan_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& number,
                  const Tensor& out);

 private:
  // Expands the indices to the shape of the source, with stride 0 in the other dimensions.
  Error spread(const Tensor& index);
};

}  // namespace rushlight::kernels
