// SPDX-License-Identifier: BSD-3-Clause
// Selection by rank in a fiber of any dtype, in PyTorch's order and without scratch memory: elements are not
// moved, so each round of the quickselect scans the whole fiber.
#pragma once

#include <cstdint>

#include "kernels/walk/fibers.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Index of the element that would be at `rank` in the sorted fiber; equal elements keep their order. Cost:
// expected n log n comparisons. Precondition: `rank` is below the fiber's size.
ptrdiff_t position_of_rank(const Fiber& fiber, ScalarType type, ptrdiff_t rank);

// Index of the first largest or smallest element, or of the first NaN. Precondition: the fiber has elements.
ptrdiff_t position_of_extreme(const Fiber& fiber, ScalarType type, bool largest);

// Number of elements that are not NaN.
ptrdiff_t count_not_nan(const Fiber& fiber, ScalarType type);

// All elements of a tensor as a fiber, in memory order.
Fiber fiber_of(const Tensor& tensor);

// Selects an element of a fiber and returns its index. `argument` is passed on from pick_along(), for
// instance a rank.
using PositionFunction = ptrdiff_t (*)(const Fiber& fiber, ScalarType type, int64_t argument);

// Applies `position` to each fiber of `self` along `dim`, and writes the element and its index. `values` has
// the dtype of `self`. Errors: InvalidArgument (dim, no elements, shapes), InvalidType.
Error pick_along(const Tensor& self, int64_t dim, bool keepdim, PositionFunction position, int64_t argument,
                 const Tensor& values, const Tensor& indices);

// Sorts positions with order(context, a, b), which returns negative, 0 or positive; equal ones keep their
// order. Heapsort, in place.
using PositionOrder = int (*)(const void* context, uint32_t a, uint32_t b);
void sort_positions(Span<uint32_t> positions, PositionOrder order, const void* context);

}  // namespace rushlight::kernels
