// SPDX-License-Identifier: BSD-3-Clause
// Where numbers would stand in sorted sequences: what searchsorted and bucketize share.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct Search {
  bool right;                      // after equal elements, not before them
  bool as_int32;                   // the dtype of the positions
  const Tensor* sorter = nullptr;  // the positions of the sequence's elements in order
};

// Writes the position of each element of `values` in the sequence that has its other dimensions, or in
// the only one. Errors: InvalidArgument (shapes; a position of the sorter), InvalidType.
Error search_sorted(TypeSet types, const Tensor& sequences, const Tensor& values, const Search& search,
                    const Tensor& out);

// What a number is compared as with elements of `type`.
ScalarType searched_type(const Scalar& value, ScalarType type);

}  // namespace rushlight::kernels
