// SPDX-License-Identifier: BSD-3-Clause
// Checks of shapes, dimensions and layouts that a call passes as integer arguments.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/checks/checks.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Copies `sizes` to `shape`. InvalidArgument if a size is negative or too large, or there are too many.
Error read_sizes(Span<const int64_t> sizes, Shape* shape);

// The same with one -1 allowed, which becomes the size that gives the shape `numel` elements. InvalidArgument
// if no size does so, or every size does.
Error infer_sizes(Span<const int64_t> sizes, size_t numel, Shape* shape);

// Reads a set of dimensions as a bit mask; negative `dims` count from the end. InvalidArgument for a
// dimension that is out of range or repeated.
Error read_dims(Span<const int64_t> dims, ptrdiff_t rank, uint32_t* mask);

// True if the order of the elements in memory is that of their indices. Dimensions of size 1 do not count.
bool is_row_major(Span<const DimOrderType> order, Span<const SizesType> sizes);

// InvalidArgument unless `out` has the requested dim order; no request accepts every order. Accepts
// row-major, channels-last and the exact dim order of `out`: if a size is 1, several orders describe the same
// layout.
Error check_dim_order(const std::optional<Span<const int64_t>>& order, const Tensor& out);
// The same for PyTorch's MemoryFormat values: 0 contiguous, 1 preserve, 2 and 3 channels-last.
Error check_memory_format(std::optional<int64_t> format, const Tensor& out);

// Resizes `out` to sizes from an argument. InvalidArgument.
Error resize_to(const Tensor& out, Span<const int64_t> sizes);
// Resizes `out` to the shape of `self` and checks its layout with check_memory_format(). InvalidArgument.
Error resize_like(const Tensor& out, const Tensor& self, std::optional<int64_t> memory_format);

// InvalidArgument if the caller asks for an asynchronous copy: copies finish before they return.
Error check_blocking(bool non_blocking);

}  // namespace rushlight::kernels
