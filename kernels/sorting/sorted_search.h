// SPDX-License-Identifier: BSD-3-Clause
// Binary search in sorted sequences, for searchsorted and bucketize. Values of another dtype are compared as
// doubles. NaN is inserted at the end.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The options of searchsorted and bucketize.
struct Search {
  bool right;                      // insert after equal elements, not before
  bool as_int32;                   // dtype of the results
  const Tensor* sorter = nullptr;  // indices that sort the sequence
};

// Writes the insertion position of each element of `values` in the sequence with the same outer index, or in
// the only sequence. Resizes `out`. Cost: log2(n) comparisons for each value. Errors: InvalidArgument
// (shapes, index in the sorter), InvalidType.
Error search_sorted(TypeSet types, const Tensor& sequences, const Tensor& values, const Search& search,
                    const Tensor& out);

// The dtype in which a scalar is compared with elements of `type`.
ScalarType searched_type(const Scalar& value, ScalarType type);

}  // namespace rushlight::kernels
