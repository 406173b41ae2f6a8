// SPDX-License-Identifier: BSD-3-Clause
// With scratch, a radix select over the bytes of the keys, from the highest: a histogram finds the bucket of
// the rank, and only its entries stay. Without, a quickselect with a fixed pseudo-random pivot sequence, and
// for positions a heapsort; both compare elements in place, because the input must not change.
#include "kernels/sorting/order_statistic.h"

#include "kernels/checks/checks.h"
#include "kernels/elements/element_access.h"
#include "kernels/reduction/extremum.h"
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

// Selects among entries in the order of their positions; destroys them.
[[maybe_unused]] ptrdiff_t select(KeyedPosition* entries, size_t count, size_t rank) {
  while (count > 1) {
    int64_t least = entries[0].key;
    int64_t most = entries[0].key;
    for (size_t i = 1; i < count; ++i) {
      least = entries[i].key < least ? entries[i].key : least;
      most = entries[i].key > most ? entries[i].key : most;
    }
    if (least == most) break;  // equal elements keep their order
    // Differences from the least key are unsigned; the highest 8 bits in which they differ are the digit.
    const auto distance = [&](int64_t key) {
      return static_cast<uint64_t>(key) - static_cast<uint64_t>(least);
    };
    unsigned shift = 0;
    while ((distance(most) >> shift) > 0xff) ++shift;
    uint32_t counts[256] = {};
    for (size_t i = 0; i < count; ++i) ++counts[distance(entries[i].key) >> shift];
    size_t digit = 0;
    for (; rank >= counts[digit]; ++digit) rank -= counts[digit];
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      // Without a branch: the entry is overwritten unless it belongs to the bucket.
      entries[kept] = entries[i];
      kept += distance(entries[kept].key) >> shift == digit ? 1 : 0;
    }
    count = kept;
  }
  return static_cast<ptrdiff_t>(entries[rank].position);
}

}  // namespace

RankScratch allocate_ranks([[maybe_unused]] KernelContext& context, [[maybe_unused]] size_t size) {
#ifdef __OPTIMIZE_SIZE__
  return nullptr;
#else
  return static_cast<RankScratch>(context.allocate_temp(2 * size * sizeof(KeyedPosition), alignof(int64_t)));
#endif
}

ptrdiff_t position_of_rank(const Fiber& fiber, ScalarType type, ptrdiff_t rank, RankScratch scratch) {
#ifndef __OPTIMIZE_SIZE__
  if (scratch != nullptr) {
    read_keys(fiber, type, false, scratch);
    return select(scratch, static_cast<size_t>(fiber.size), static_cast<size_t>(rank));
  }
#endif
  static_cast<void>(scratch);
  // Quickselect without moving elements: the remaining elements are those between two bounds.
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

// NaN has the largest key, which no number has.
ptrdiff_t position_of_nan(const Fiber& fiber, ScalarType type) {
  ptrdiff_t found = fiber.size;
  if (is_integer_like(type)) return found;
  for_each_keys(fiber, type, false, [&](ptrdiff_t first, const int64_t* keys, ptrdiff_t n) {
    for (ptrdiff_t i = n; i-- > 0;) found = keys[i] == INT64_MAX ? first + i : found;
    return found == fiber.size;
  });
  return found;
}

ptrdiff_t count_not_nan(const Fiber& fiber, ScalarType type) {
  if (is_integer_like(type)) return fiber.size;
  ptrdiff_t count = 0;
  for_each_keys(fiber, type, false, [&](ptrdiff_t, const int64_t* keys, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; ++i) count += keys[i] != INT64_MAX ? 1 : 0;
    return true;
  });
  return count;
}

Fiber fiber_of(const Tensor& tensor) {
  return {tensor.mutable_data_ptr<char>(), static_cast<ptrdiff_t>(tensor.element_size()),
          static_cast<ptrdiff_t>(tensor.numel())};
}

Error pick_along(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                 PositionFunction position, int64_t argument, const Tensor& values, const Tensor& indices) {
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
  const RankScratch scratch = allocate_ranks(context, static_cast<size_t>(views[0].sizes[d]));
  return for_each_fiber(views, d, [=](const Fiber* fibers) {
    const ptrdiff_t found = position(fibers[0], type, argument, scratch);
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
