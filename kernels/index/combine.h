// SPDX-License-Identifier: BSD-3-Clause
// Reductions into indexed elements, shared by scatter_reduce, scatter_add, index_add and index_reduce. Rare
// operators: one loop with element access functions serves all dtypes.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The reduction of an element and the elements that are combined into it.
enum class Combine : uint8_t { kSum, kProduct, kLargest, kSmallest, kMean };

// Reads "sum", "prod", "mean", "amax" or "amin"; InvalidArgument for other words.
Error read_combine(std::string_view word, Combine* combine);

// *target = *target combined with *source. Integers wrap; floating results are rounded to the type of the
// target; NaN propagates. kMean adds. Precondition: both types are floating, or both integer, or both
// complex; complex elements are only added and multiplied.
void combine_elements(char* target, ScalarType target_type, const char* source, ScalarType source_type,
                      Combine how);

// A problem: indices and source have one shape, `target` its size except along `dim`.
struct IndexedCombine {
  View index;   // integers
  View target;  // indexed along `dim`
  View source;  // shaped like `index`, with the dtype of `target`
  // kMean divides by the count of combined elements, to which the old one belongs with include_target.
  size_t dim;
  Combine how;
  bool include_target;  // the target's old value is part of the result
};

// Combines target[..., index[i], ...] with source[..., i, ...]. Shapes must satisfy check_index_shape().
// Scratch memory: 4 bytes for each element of `target` along `dim` to add or multiply 16-bit floats (without
// it each step rounds), in builds for speed as many for `source`, and 4 for kMean. Errors: InvalidArgument if
// an index is out of range; InvalidType for complex elements unless added or multiplied;
// MemoryAllocationFailed for a mean without scratch memory.
Error combine_indexed(KernelContext& context, const IndexedCombine& combine);

}  // namespace rushlight::kernels
