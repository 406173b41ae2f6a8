// SPDX-License-Identifier: BSD-3-Clause
// Dim orders (the dimensions from outermost to innermost) and strides (in elements). A tensor is dense, so
// either follows from the other and the sizes:
//
//   sizes (2, 3, 4, 5), channels-last dim order (0, 2, 3, 1): strides (60, 1, 15, 3)
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <c10/util/irange.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {

// Returns true for a permutation of 0 to dims - 1; false for more than kTensorDimensionLimit dimensions.
// O(dims), without memory.
template <class DimOrderType>
bool validate_dim_order(const DimOrderType* dim_order, const size_t dims) {
  if (dims > kTensorDimensionLimit) return false;
  uint32_t seen = 0;
  for (size_t i = 0; i < dims; ++i) {
    const auto d = static_cast<size_t>(dim_order[i]);
    if (d >= dims || (seen >> d & 1u) != 0) return false;
    seen |= 1u << d;
  }
  return true;
}

// Returns true for 0, 1, ..., dims - 1 (row-major), also for no dimensions.
template <class DimOrderType>
inline bool is_contiguous_dim_order(const DimOrderType* dim_order, const size_t dims) {
  for (size_t i = 0; i < dims; ++i) {
    if (static_cast<size_t>(dim_order[i]) != i) return false;
  }
  return true;
}

// Returns true for 0, 2, ..., n - 1, 1 of rank 4 or 5: the layouts NHWC and NDHWC of PyTorch.
template <class DimOrderType>
bool is_channels_last_dim_order(const DimOrderType* dim_order, const size_t dims) {
  if ((dims != 4 && dims != 5) || dim_order[0] != 0 || dim_order[dims - 1] != 1) return false;
  for (size_t i = 1; i + 1 < dims; ++i) {
    if (static_cast<size_t>(dim_order[i]) != i + 1) return false;
  }
  return true;
}

// Writes the strides of a dense tensor, from the innermost dimension outwards: each is the product of the
// sizes of all dimensions that follow in the dim order. A dimension of size 0 counts as size 1 in the strides
// of outer dimensions, as in PyTorch. Preconditions: `dim_order` is a permutation, and products of sizes fit
// StridesType. The arrays have `dims` entries and do not overlap.
template <class SizesType, class DimOrderType, class StridesType>
inline void dim_order_to_stride_nocheck(const SizesType* sizes, const DimOrderType* dim_order,
                                        const size_t dims, StridesType* strides) {
  StridesType stride = 1;
  for (size_t i = dims; i-- > 0;) {
    const DimOrderType d = dim_order[i];
    strides[d] = stride;
    if (sizes[d] != 0) stride = static_cast<StridesType>(stride * sizes[d]);
  }
}

// The same with a check of the dim order. Error: InvalidArgument. Overflow is not checked.
template <class SizesType, class DimOrderType, class StridesType>
ET_NODISCARD inline Error dim_order_to_stride(const SizesType* sizes, const DimOrderType* dim_order,
                                              const size_t dims, StridesType* strides) {
  ET_CHECK_OR_RETURN_ERROR(validate_dim_order(dim_order, dims), InvalidArgument,
                           "dim order: expected a permutation of %zu dimensions", dims);
  dim_order_to_stride_nocheck(sizes, dim_order, dims, strides);
  return Error::Ok;
}

// Sorts dimensions by descending stride; ties keep their order, so dimensions of size 1 may end up elsewhere
// than in the dim order from which the strides were computed. Insertion sort: O(dims * dims). `strides` is
// not null. Errors: MemoryAllocationFailed (`dim_order` is null), NotSupported (more than
// kTensorDimensionLimit dimensions).
template <class DimOrderType, class StridesType>
ET_NODISCARD inline Error stride_to_dim_order(const StridesType* strides, const size_t dims,
                                              DimOrderType* dim_order) {
  ET_CHECK_OR_RETURN_ERROR(dim_order != nullptr, MemoryAllocationFailed,
                           "dim_order: expected a buffer, got null");
  ET_CHECK_OR_RETURN_ERROR(dims <= kTensorDimensionLimit, NotSupported,
                           "dimensions: got %zu, expected at most %zu", dims, kTensorDimensionLimit);
  for (size_t i = 0; i < dims; ++i) {
    size_t position = i;
    for (; position > 0 && strides[dim_order[position - 1]] < strides[i]; --position) {
      dim_order[position] = dim_order[position - 1];
    }
    dim_order[position] = static_cast<DimOrderType>(i);
  }
  return Error::Ok;
}

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::dim_order_to_stride;
using ::executorch::runtime::dim_order_to_stride_nocheck;
using ::executorch::runtime::is_channels_last_dim_order;
using ::executorch::runtime::is_contiguous_dim_order;
using ::executorch::runtime::stride_to_dim_order;
}  // namespace torch::executor
