// SPDX-License-Identifier: BSD-3-Clause
// Operators over the last dimensions of a tensor: [N, C, spatial...], or [C, spatial...] where PyTorch allows
// it. Stride, padding and similar arguments are lists with one value for each spatial dimension, or one for
// all.
#pragma once

#include <cstdint>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"

namespace rushlight::kernels {

// Upper limit of every value in such a list: sums of products of two of them fit in int64.
inline constexpr int64_t kSpatialLimit = INT32_MAX;

// InvalidArgument unless the list has 1 or `spatial` values, each in [least, kSpatialLimit].
Error check_spatial_list(Span<const int64_t> list, size_t spatial, int64_t least, const char* name);

// The value for dimension `index`. Precondition: check_spatial_list().
constexpr int64_t spatial_item(Span<const int64_t> list, size_t index) {
  return list[list.size() == 1 ? 0 : index];
}

// InvalidArgument unless the rank is spatial + 1 or spatial + 2 and only the batch is empty. `name` is the
// argument in the log.
Error check_spatial_tensor(const Tensor& tensor, size_t spatial, const char* name);

// A volume has three spatial dimensions. Images and lines are volumes with outer dimensions of size 1.
inline constexpr size_t kVolume = 3;

// The tensor as a view [N, C, D, H, W]: adds a batch of 1 if there is none, and leading spatial dimensions of
// size 1. Precondition: its rank is spatial + 1 or spatial + 2.
View as_volume(const Tensor& tensor, size_t spatial);

// Address of channel 0 of batch element n at position (z, y, x).
inline char* volume_at(const View& volume, ptrdiff_t n, ptrdiff_t z, ptrdiff_t y, ptrdiff_t x) {
  const ptrdiff_t* strides = volume.strides;
  return volume.data + n * strides[0] + z * strides[2] + y * strides[3] + x * strides[4];
}

}  // namespace rushlight::kernels
