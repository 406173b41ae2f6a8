// SPDX-License-Identifier: BSD-3-Clause
// Quickselect with a fixed pseudo-random pivot sequence and heapsort of positions. Both compare elements in
// place, because dtypes differ and the input must not change.
#include "kernels/sorting/order_statistic.h"

#include "kernels/checks/checks.h"
#include "kernels/elements/element_access.h"
#include "kernels/reduction/extremum.h"
#include "kernels/sorting/order.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

namespace {

// The order of positions: by element, then by position. A total order, also for equal elements and NaN: ties
// are decided by position, so each rank has one element.
struct Order {
  const Fiber& fiber;
  ScalarType type;

  [[nodiscard]] bool less(ptrdiff_t a, ptrdiff_t b) const {
    const int order = compare_elements(fiber.data + a * fiber.stride, fiber.data + b * fiber.stride, type);
    return order < 0 || (order == 0 && a < b);
  }
};

}  // namespace

// Quickselect without moving elements: the remaining elements are those between two bounds.
ptrdiff_t position_of_rank(const Fiber& fiber, ScalarType type, ptrdiff_t rank) {
  const Order order{fiber, type};
  ptrdiff_t above = -1;  // all remaining elements are after this one,
  ptrdiff_t below = -1;  // and before this one
  // Remaining elements lie strictly between the two bounds; nothing moves, so every round tests all elements.
  const auto is_left = [&](ptrdiff_t i) {
    return (above < 0 || order.less(above, i)) && (below < 0 || order.less(i, below));
  };
  uint32_t random = 1;
  for (ptrdiff_t left = fiber.size; left > 1;) {
    // A linear congruential generator with a fixed seed: results repeat, and no fixed input order is the
    // worst case. Each round passes over the fiber twice at most.
    random = random * 1664525u + 1013904223u;
    ptrdiff_t skipped = static_cast<ptrdiff_t>((random >> 8) % static_cast<uint32_t>(left));
    ptrdiff_t pivot = 0;
    while (!is_left(pivot) || skipped-- > 0) {
      if (++pivot >= fiber.size) return 0;  // the program changed shared memory
    }
    ptrdiff_t smaller = 0;
    for (ptrdiff_t i = 0; i < fiber.size; ++i) smaller += is_left(i) && order.less(i, pivot) ? 1 : 0;
    if (rank == smaller) return pivot;
    if (rank < smaller) {
      below = pivot;
      left = smaller;
    } else {
      above = pivot;
      rank -= smaller + 1;
      left -= smaller + 1;
    }
  }
  for (ptrdiff_t i = 0; i < fiber.size; ++i) {
    if (is_left(i)) return i;
  }
  return 0;
}

ptrdiff_t position_of_extreme(const Fiber& fiber, ScalarType type, bool largest) {
  ptrdiff_t found = 0;
  for (ptrdiff_t i = 0; i < fiber.size; ++i) {
    const char* const at = fiber.data + i * fiber.stride;
    const char* const best = fiber.data + found * fiber.stride;
    if (is_nan_element(at, type)) return i;
    const int order = compare_elements(at, best, type);
    if (largest ? order > 0 : order < 0) found = i;
  }
  return found;
}

ptrdiff_t count_not_nan(const Fiber& fiber, ScalarType type) {
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < fiber.size; ++i)
    count += is_nan_element(fiber.data + i * fiber.stride, type) ? 0 : 1;
  return count;
}

Fiber fiber_of(const Tensor& tensor) {
  return {tensor.mutable_data_ptr<char>(), static_cast<ptrdiff_t>(tensor.element_size()),
          static_cast<ptrdiff_t>(tensor.numel())};
}

Error pick_along(const Tensor& self, int64_t dim, bool keepdim, PositionFunction position, int64_t argument,
                 const Tensor& values, const Tensor& indices) {
  RL_TRY(check_same_dtype(self, values, "self and values"));
  RL_TRY(check_indices_dtype(indices));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  RL_TRY(check_not_empty(self, Span<const int64_t>(&dim, 1)));
  const Shape shape = reduced_shape(self, d, keepdim);
  RL_TRY(resize_out(values, shape.span()));
  RL_TRY(resize_out(indices, shape.span()));
  // The outputs keep the dimension with size 1, so all three views have one rank.
  const View views[] = {at_least_1d(self), with_reduced_dim(values, d, self, keepdim),
                        with_reduced_dim(indices, d, self, keepdim)};
  const ScalarType type = self.scalar_type();
  const size_t element = self.element_size();
  return for_each_fiber(views, d, [=](const Fiber* fibers) {
    const ptrdiff_t found = position(fibers[0], type, argument);
    copy_elements(fibers[1].data, 0, fibers[0].data + found * fibers[0].stride, 0, 1, element);
    fibers[2].at<int64_t>(0) = found;
    return Error::Ok;
  });
}

// Heapsort. In place, O(n log n) comparisons in the worst case, no recursion.
void sort_positions(Span<uint32_t> positions, PositionOrder order, const void* context) {
  const auto less = [&](uint32_t a, uint32_t b) {
    const int result = order(context, a, b);
    return result < 0 || (result == 0 && a < b);
  };
  const auto sift = [&](size_t at, uint32_t entry, size_t size) {
    while (2 * at + 1 < size) {
      size_t child = 2 * at + 1;
      if (child + 1 < size && less(positions[child], positions[child + 1])) ++child;
      if (!less(entry, positions[child])) break;
      positions[at] = positions[child];
      at = child;
    }
    positions[at] = entry;
  };
  const size_t count = positions.size();
  for (size_t i = count / 2; i-- > 0;) sift(i, positions[i], count);
  for (size_t end = count; end-- > 1;) {
    const uint32_t entry = positions[end];
    positions[end] = positions[0];
    sift(0, entry, end);
  }
}

}  // namespace rushlight::kernels
