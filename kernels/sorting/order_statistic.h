// SPDX-License-Identifier: BSD-3-Clause
// Selection by rank in a fiber of any dtype, in PyTorch's order. Builds for speed select among the int64 keys
// of sorting/order.h in scratch memory. Builds for size, and calls without that memory, do not move elements:
// each round of the quickselect scans the whole fiber.
#pragma once

#include <cstdint>

#include "kernels/sorting/order.h"
#include "kernels/walk/fibers.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Scratch of a selection: two entries for each element of a fiber, or null without scratch.
using RankScratch = KeyedPosition*;

// Memory for fibers of `size` elements. Null in builds for size and if there is too little memory.
RankScratch allocate_ranks(KernelContext& context, size_t size);

#ifndef __OPTIMIZE_SIZE__
// Writes the keys of a fiber, NaN as the largest one, to the front of `scratch`.
int64_t* read_keys(const Fiber& fiber, ScalarType type, RankScratch scratch);

// Index of the key that would be at `rank` of the sorted keys; equal keys keep their order. Overwrites the
// `count` numbers behind the keys.
ptrdiff_t position_among(int64_t* keys, size_t count, size_t rank);
#endif

// Index of the element that would be at `rank` in the sorted fiber; equal elements keep their order. Cost:
// linear with scratch; without, expected n log n comparisons. Precondition: `rank` is
// below the fiber's size.
ptrdiff_t position_of_rank(const Fiber& fiber, ScalarType type, ptrdiff_t rank, RankScratch scratch);

// Index of the first NaN; the fiber's size if there is none.
ptrdiff_t position_of_nan(const Fiber& fiber, ScalarType type);

// Number of elements that are not NaN.
ptrdiff_t count_not_nan(const Fiber& fiber, ScalarType type);

// All elements of a tensor as a fiber, in memory order.
Fiber fiber_of(const Tensor& tensor);

// Selects an element of a fiber and returns its index. `argument` is passed on from pick_along(), for
// instance a rank.
using PositionFunction = ptrdiff_t (*)(const Fiber& fiber, ScalarType type, int64_t argument,
                                       RankScratch scratch);

// Applies `position` to each fiber of `self` along `dim`, and writes the element and its index. `values` has
// the dtype of `self`. Errors: InvalidArgument (dim, no elements, shapes), InvalidType.
Error pick_along(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                 PositionFunction position, int64_t argument, const Tensor& values, const Tensor& indices);

// Sorts positions with order(context, a, b), which returns negative, 0 or positive; equal ones keep their
// order. Heapsort, in place.
using PositionOrder = int (*)(const void* context, uint32_t a, uint32_t b);
void sort_positions(Span<uint32_t> positions, PositionOrder order, const void* context);

}  // namespace rushlight::kernels
