// SPDX-License-Identifier: BSD-3-Clause
// Shapes and dimensions that come as integer arguments.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/checks/checks.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Checks that `sizes` are sizes and takes them over. InvalidArgument.
Error read_sizes(Span<const int64_t> sizes, Shape* shape);

// The same with one -1 allowed, which becomes what makes the shape hold `numel` elements.
// InvalidArgument when no size does, or any would.
Error infer_sizes(Span<const int64_t> sizes, size_t numel, Shape* shape);

// A set of dimensions as a bit mask; `dims` may count from the end. InvalidArgument for one that does
// not exist or stands twice.
Error read_dims(Span<const int64_t> dims, ptrdiff_t rank, uint32_t* mask);

// Whether elements in memory follow the order of their indices. Dimensions of size 1 can stand anywhere.
bool is_row_major(Span<const DimOrderType> order, Span<const SizesType> sizes);

// InvalidArgument unless `out` is laid out as asked; nothing asked allows everything. What may be asked for
// is row-major, channels last or, word for word, the dim order of `out`: where a size is 1, any order might
// describe it.
Error check_dim_order(const std::optional<Span<const int64_t>>& order, const Tensor& out);
// The same for PyTorch's MemoryFormat numbers: 0 contiguous, 1 preserve, 2 and 3 channels last.
Error check_memory_format(std::optional<int64_t> format, const Tensor& out);

// Resizes `out` to sizes that come as an argument. InvalidArgument.
Error resize_to(const Tensor& out, Span<const int64_t> sizes);
// To the shape of `self`, laid out as check_memory_format() wants it.
Error resize_like(const Tensor& out, const Tensor& self, std::optional<int64_t> memory_format);

// Copies return when they are done; InvalidArgument when that is not what is asked.
Error check_blocking(bool non_blocking);

}  // namespace rushlight::kernels
