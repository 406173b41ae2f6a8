// SPDX-License-Identifier: BSD-3-Clause
// Finding elements by rank in a lane of any dtype, in PyTorch's order and without memory of its own.
#pragma once

#include <cstdint>

#include "kernels/walk/fibers.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Where the element is that would stand at `rank` if the lane were sorted, equal ones in their order.
// Takes time in proportion to n log n. `rank` is below the lane's size.
ptrdiff_t position_of_rank(const ViewLane& lane, ScalarType type, ptrdiff_t rank);

// Where the first largest or smallest element is; the first NaN, when there is one. The lane has elements.
ptrdiff_t position_of_extreme(const ViewLane& lane, ScalarType type, bool largest);

// How many elements are not NaN.
ptrdiff_t count_numbers(const ViewLane& lane, ScalarType type);

// All elements of a tensor as a lane, in memory order.
ViewLane lane_of(const Tensor& tensor);

// Which element of a lane to take.
using PositionFunction = ptrdiff_t (*)(const ViewLane& lane, ScalarType type, int64_t argument);

// The element and its position for each lane of `self` along `dim`. `values` takes the dtype of self.
// Errors: InvalidArgument (dim; no elements there; shapes), InvalidType.
Error pick_along(const Tensor& self, int64_t dim, bool keepdim, PositionFunction position, int64_t argument,
                 const Tensor& values, const Tensor& indices);

// f(order, context): sorts `count` positions by the order of what stands there, equal ones as they are.
using PositionOrder = int (*)(const void* context, uint32_t a, uint32_t b);
void sort_positions(Span<uint32_t> positions, PositionOrder order, const void* context);

}  // namespace rushlight::kernels
