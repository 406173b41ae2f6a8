// SPDX-License-Identifier: BSD-3-Clause
// Arguments that choose a part of a tensor along one dimension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Positions start, start + step, ... along dimension `dim`.
struct Slice {
  size_t dim;
  ptrdiff_t start;
  ptrdiff_t length;
  ptrdiff_t step;  // 1 where less than two are taken
};

// Reads a slice as Python does: positions count from the end when negative, and stop at both ends.
// InvalidArgument for a dimension that is not there and a step below 1.
Error read_slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                 int64_t step, Slice* slice);

// Reads the position of select along a dimension. InvalidArgument for one out of range.
Error read_position(const Tensor& self, int64_t dim, int64_t index, size_t* d, ptrdiff_t* position);

// The elements that as_strided names. The strides count elements of self's memory, whatever its dimension
// order. InvalidArgument where they leave it.
Error read_strided(const Tensor& self, Span<const int64_t> size, Span<const int64_t> stride,
                   std::optional<int64_t> storage_offset, View* view);

// InvalidArgument unless `src` has the shape of the part that it is to replace.
Error check_part_shape(const Tensor& src, const View& part);

}  // namespace rushlight::kernels
