// SPDX-License-Identifier: BSD-3-Clause
// Checks of arguments that select a part of a tensor. Results are in the terms of View; no elements are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The positions start, start + step, ... along dimension `dim`.
struct Slice {
  size_t dim;
  ptrdiff_t start;
  ptrdiff_t length;
  ptrdiff_t step;  // 1 if length is below 2
};

// Reads a slice as Python does: negative positions count from the end, and positions are clamped to the
// tensor. InvalidArgument if the dimension is out of range or step is below 1.
Error read_slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                 int64_t step, Slice* slice);

// Reads the index of select along a dimension; a negative one counts from the end. InvalidArgument if it is
// out of range.
Error read_position(const Tensor& self, int64_t dim, int64_t index, size_t* d, ptrdiff_t* position);

// Computes the view of as_strided. Strides and offset count elements of the memory of `self`, whatever its
// dim order. InvalidArgument if an element is outside that memory.
Error read_strided(const Tensor& self, Span<const int64_t> size, Span<const int64_t> stride,
                   std::optional<int64_t> storage_offset, View* view);

// InvalidArgument unless `src` has the shape of `part`, which it replaces.
Error check_part_shape(const Tensor& src, const View& part);

}  // namespace rushlight::kernels
