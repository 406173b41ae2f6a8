// SPDX-License-Identifier: BSD-3-Clause
// Finding elements by rank in a fiber of any dtype, in PyTorch's order and without memory of its own.
#pragma once

#include <cstdint>

#include "kernels/walk/fibers.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Where the element is that would stand at `rank` if the fiber were sorted, equal ones in their order.
// Takes time in proportion to n log n. `rank` is below the fiber's size.
ptrdiff_t position_of_rank(const Fiber& fiber, ScalarType type, ptrdiff_t rank);

// Where the first largest or smallest element is; the first NaN, when there is one. The fiber has elements.
ptrdiff_t position_of_extreme(const Fiber& fiber, ScalarType type, bool largest);

// How many elements are not NaN.
ptrdiff_t count_numbers(const Fiber& fiber, ScalarType type);

// All elements of a tensor as a fiber, in memory order.
Fiber fiber_of(const Tensor& tensor);

// Which element of a fiber to take.
using PositionFunction = ptrdiff_t (*)(const Fiber& fiber, ScalarType type, int64_t argument);

// The element and its position for each fiber of `self` along `dim`. `values` takes the dtype of self.
// Errors: InvalidArgument (dim; no elements there; shapes), InvalidType.
Error pick_along(const Tensor& self, int64_t dim, bool keepdim, PositionFunction position, int64_t argument,
                 const Tensor& values, const Tensor& indices);

// f(order, context): sorts `count` positions by the order of what stands there, equal ones as they are.
using PositionOrder = int (*)(const void* context, uint32_t a, uint32_t b);
void sort_positions(Span<uint32_t> positions, PositionOrder order, const void* context);

}  // namespace rushlight::kernels
