// SPDX-License-Identifier: BSD-3-Clause
// Combining elements with those that indices name: what scatter_reduce, index_add and their like share.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

enum class Combine : uint8_t { kSum, kProduct, kLargest, kSmallest, kMean };

// "sum", "prod", "mean", "amax", "amin". InvalidArgument for another word.
Error read_combine(std::string_view word, Combine* combine);

// *target = *target and *source combined. Integers wrap; of floating numbers the result is rounded to
// the type of the target, NaN stays. kMean adds. Both are floating or neither is, or both are complex, which
// are only added and multiplied.
void combine_elements(char* target, ScalarType target_type, const char* source, ScalarType source_type,
                      Combine how);

struct IndexedCombine {
  View index;   // integers
  View target;  // what is named along `dim`
  View source;  // as index, in the type of target
  size_t dim;
  Combine how;
  bool include_target;  // whether the element that is named takes part
};

// target[..., index[i], ...] is combined with source[..., i, ...]. Shapes as check_index_shape demands
// them. Takes 4 bytes of scratch for each element of target along `dim` where
// 16-bit floats are added or multiplied, which without it are rounded at every step, and 4 for kMean.
// InvalidArgument for an index out of range; InvalidType for complex numbers that are neither added nor
// multiplied; MemoryAllocationFailed for a mean without scratch.
Error combine_indexed(KernelContext& context, const IndexedCombine& combine);

}  // namespace rushlight::kernels
