// SPDX-License-Identifier: BSD-3-Clause
// With scratch, selects among keys without positions, by a sample and by a radix select: a histogram of the
// highest bits finds the bucket of the rank, and only its keys stay. A last pass finds the position. Without,
// a quickselect with a fixed pseudo-random pivot sequence, and for positions a heapsort; both compare
// elements in place, because the input must not change.
#include "kernels/sorting/order_statistic.h"

#include <cstring>

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

#ifndef __OPTIMIZE_SIZE__
// Writes the keys in [low + 1, low + width] to `kept`, which may be `keys`, and returns how many. Without a
// branch: a key is overwritten unless it is within the bounds. `*below` is the number of keys up to `low`.
size_t keep_between(const int64_t* keys, size_t count, int64_t low, uint64_t width, int64_t* kept,
                    size_t* below) {
  const uint64_t first = static_cast<uint64_t>(low) + 1;
  size_t held = 0;
  size_t less = 0;
  for (size_t i = 0; i < count; ++i) {
    const int64_t key = keys[i];
    kept[held] = key;
    held += static_cast<uint64_t>(key) - first < width ? 1 : 0;
    less += key <= low ? 1 : 0;
  }
  *below = less;
  return held;
}

size_t count_equal(const int64_t* keys, size_t count, int64_t key) {
  size_t equal = 0;
  for (size_t i = 0; i < count; ++i) equal += keys[i] == key ? 1 : 0;
  return equal;
}

// Returns the key at `*rank` of the sorted keys, which it reorders, and sets `*rank` to the number of equal
// keys before it. Radix select over the 8 highest bits in which keys differ, then an insertion sort.
int64_t select(int64_t* keys, size_t count, size_t* rank) {
  constexpr size_t kShort = 24;
  while (count > kShort) {
    int64_t least = keys[0];
    int64_t most = keys[0];
    for (size_t i = 1; i < count; ++i) {
      least = keys[i] < least ? keys[i] : least;
      most = keys[i] > most ? keys[i] : most;
    }
    if (least == most) return least;
    // Differences from the least key are unsigned.
    const auto distance = [&](int64_t key) {
      return static_cast<uint64_t>(key) - static_cast<uint64_t>(least);
    };
    unsigned shift = 0;
    while ((distance(most) >> shift) > 0xff) ++shift;
    uint32_t counts[256] = {};
    for (size_t i = 0; i < count; ++i) ++counts[distance(keys[i]) >> shift];
    size_t digit = 0;
    for (; *rank >= counts[digit]; ++digit) *rank -= counts[digit];
    const uint64_t low = static_cast<uint64_t>(least) + (uint64_t{digit} << shift) - 1;
    size_t below = 0;
    count = keep_between(keys, count, static_cast<int64_t>(low), uint64_t{1} << shift, keys, &below);
  }
  for (size_t i = 1; i < count; ++i) {
    const int64_t key = keys[i];
    size_t at = i;
    for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
    keys[at] = key;
  }
  const int64_t found = keys[*rank];
  size_t equal = 0;
  while (equal < *rank && keys[*rank - equal - 1] == found) ++equal;
  *rank = equal;
  return found;
}
#endif

}  // namespace

RankScratch allocate_ranks([[maybe_unused]] KernelContext& context, [[maybe_unused]] size_t size) {
#ifdef __OPTIMIZE_SIZE__
  return nullptr;
#else
  return static_cast<RankScratch>(context.allocate_temp(2 * size * sizeof(KeyedPosition), alignof(int64_t)));
#endif
}

#ifndef __OPTIMIZE_SIZE__
int64_t* read_keys(const Fiber& fiber, ScalarType type, RankScratch scratch) {
  auto* const keys = reinterpret_cast<int64_t*>(scratch);
  order_keys(fiber.data, fiber.stride, type, static_cast<size_t>(fiber.size), false, NanOrder::kAsLargest,
             keys);
  return keys;
}

// Floyd and Rivest's method: two elements of a sorted sample most likely enclose the rank, and one pass
// keeps the keys between them. Keys that equal a bound are only counted, so few distinct keys cost no more.
// An unlucky sample costs that pass, and a radix select among all keys follows.
ptrdiff_t position_among(int64_t* keys, size_t count, size_t rank) {
  constexpr size_t kSample = 512;
  constexpr size_t kMargin = 32;  // three standard deviations of the rank of the median of a sample
  int64_t* const kept = keys + count;
  const size_t step = count / kSample;
  const size_t middle = rank / (step + 1);
  int64_t found = 0;
  size_t before = rank;  // equal keys before the rank
  bool is_found = false;
  if (step >= 8 && middle >= kMargin && middle + 2 * kMargin <= kSample) {
    int64_t bounds[2];
    for (const size_t which : {0, 1}) {
      for (size_t i = 0; i < kSample; ++i) kept[i] = keys[i * step];
      size_t sampled = middle - kMargin + which * 2 * kMargin;
      bounds[which] = select(kept, kSample, &sampled);
    }
    const auto [low, high] = bounds;
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    size_t below = 0;
    const size_t held = keep_between(keys, count, low, range == 0 ? 0 : range - 1, kept, &below);
    is_found = rank >= below && rank - below < held;
    if (is_found) {
      before = rank - below;
      found = select(kept, held, &before);
    } else {
      found = rank < below ? low : high;
      const size_t equal = count_equal(keys, count, found);
      before = rank - (rank < below ? below - equal : below + held);
      is_found = before < equal;  // also false if the difference is negative
    }
  }
  if (!is_found) {
    std::memcpy(kept, keys, count * sizeof *keys);
    before = rank;
    found = select(kept, count, &before);
  }
  // Skips whole blocks of keys.
  constexpr size_t kBlock = 256;
  size_t at = 0;
  for (; count - at > kBlock; at += kBlock) {
    const size_t equal = count_equal(keys + at, kBlock, found);
    if (equal > before) break;
    before -= equal;
  }
  while (keys[at] != found || before-- > 0) ++at;
  return static_cast<ptrdiff_t>(at);
}
#endif

ptrdiff_t position_of_rank(const Fiber& fiber, ScalarType type, ptrdiff_t rank, RankScratch scratch) {
#ifndef __OPTIMIZE_SIZE__
  if (scratch != nullptr) {
    const auto size = static_cast<size_t>(fiber.size);
    return position_among(read_keys(fiber, type, scratch), size, static_cast<size_t>(rank));
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
