// SPDX-License-Identifier: BSD-3-Clause
// Operators over the last dimensions of a tensor: [N, C, spatial...], or [C, spatial...] where they take
// it without a batch. Stride, padding and the like come in lists with a number for each spatial
// dimension, or one for all of them.
#pragma once

#include <cstdint>

#include "kernels/walk/view.h"
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

// InvalidArgument unless the rank is spatial + 1 or spatial + 2, and only the batch empty. `name` is that
// of the argument.
Error check_spatial_tensor(const Tensor& tensor, size_t spatial, const char* name);

// A volume has three spatial dimensions. What has fewer is one, whose outer ones have size 1.
inline constexpr size_t kVolume = 3;

// The tensor as [N, C, D, H, W]; its rank is spatial + 1 or spatial + 2.
View as_volume(const Tensor& tensor, size_t spatial);

// The address of channel 0 of an element of the batch at position (z, y, x).
inline char* volume_at(const View& volume, ptrdiff_t n, ptrdiff_t z, ptrdiff_t y, ptrdiff_t x) {
  const ptrdiff_t* strides = volume.strides;
  return volume.data + n * strides[0] + z * strides[2] + y * strides[3] + x * strides[4];
}

}  // namespace rushlight::kernels
