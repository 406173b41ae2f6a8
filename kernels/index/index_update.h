// SPDX-License-Identifier: BSD-3-Clause
// What index_add, index_copy, index_reduce and index_fill write, once `out` is a copy of `self`: the
// slices of `target` along `dim` that the index names.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct IndexUpdate {
  View index;  // repeated to the shape of the source
  View target;
  View source;
  size_t dim;

  // Checks the arguments and copies: `source` has the dtype and, except along `dim`, the shape of
  // `self`, and there an element for each of `index`. Errors: InvalidArgument (dim; shapes), InvalidType.
  Error plan(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Tensor& out);

  // The same with one number for all that is named: of `number`, the only element.
  Error plan_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& number,
                  const Tensor& out);

 private:
  Error spread(const Tensor& index);
};

}  // namespace rushlight::kernels
