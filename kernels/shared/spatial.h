// SPDX-License-Identifier: BSD-3-Clause
// Stride, padding and the like: lists with a number for each spatial dimension, or one for all of them.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/span.h"

namespace rushlight::kernels {

// Every number of such a list is at most this, so that sums of products of two of them fit int64.
inline constexpr int64_t kSpatialLimit = INT32_MAX;

// InvalidArgument unless the list is 1 or `spatial` numbers of `least` to kSpatialLimit.
Error check_spatial_list(Span<const int64_t> list, size_t spatial, int64_t least, const char* name);

// The number for dimension `index`; the list was checked.
inline int64_t spatial_item(Span<const int64_t> list, size_t index) {
  return list[list.size() == 1 ? 0 : index];
}

}  // namespace rushlight::kernels
