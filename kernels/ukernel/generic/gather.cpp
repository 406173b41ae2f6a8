// SPDX-License-Identifier: BSD-3-Clause
// Strided gathers over vectors of the compiler; step 2 uses shuffles, other steps scalar loads. Nothing past
// the last element of a span is read: the second load of a pair of vectors overlaps the first one by an
// element. Partial stores, which some processors split by lane, are for short rows only: zeros are stored
// first, as whole vectors that may cover a part of the span, and the last vector of a span overlaps the one
// before.
#include "kernels/ukernel/gather.h"

#include <utility>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Zeros for elements [begin, end) of a row of `total` elements; writes others of the row, too.
RL_INLINE void fill_zeros(float* row, size_t begin, size_t end, size_t total) {
  for (size_t i = begin; i < end; i += kLanes) {
    if (total < kLanes) return store_partial(row + i, splat(0.0f), end - i);
    store(row + (i < total - kLanes ? i : total - kLanes), splat(0.0f));
  }
}

// Copies `count` elements by vectors: read(i) loads those from element i on, read_partial(n) the first n
// elements and zeros. `room` elements may be written, the others as zeros.
template <class Read, class ReadPartial>
RL_INLINE void copy_vectors(float* to, size_t count, size_t room, Read read, ReadPartial read_partial) {
  size_t i = 0;
  for (; count - i >= kLanes; i += kLanes) store(to + i, read(i));
  if (i == count) return;
  if (count > kLanes) return store(to + count - kLanes, read(count - kLanes));
  if (room >= kLanes) return store(to, read_partial(count));
  store_partial(to, read_partial(count), count);
}

RL_INLINE void copy_span(float* to, const float* from, size_t count, size_t room) {
  copy_vectors(
      to, count, room, [from](size_t i) { return load(from + i); },
      [from](size_t n) { return load_partial(from, n); });
}

#if RL_VECTOR_BYTES > 4
// Elements 0, 2, ... of 2 * kLanes - 1 elements: `high` starts at the last element of `low`, so that nothing
// past the end is read.
template <size_t... I>
RL_INLINE F32 every_second(F32 low, F32 high, std::index_sequence<I...>) {
  return __builtin_shufflevector(low, high, (I < kLanes / 2 ? 2 * I : 2 * I + 1)...);
}
RL_INLINE void copy_every_second(float* to, const float* from, size_t count, size_t room) {
  using All = std::make_index_sequence<kLanes>;
  // Without masks, lane by lane.
  if (!kMasks && count < kLanes) {
    for (size_t i = 0; i < count; ++i) to[i] = from[2 * i];
    return;
  }
  copy_vectors(
      to, count, room,
      [from](size_t i) { return every_second(load(from + 2 * i), load(from + 2 * i + kLanes - 1), All()); },
      [from](size_t n) {
        const size_t all = 2 * n - 1;
        if (all < kLanes) return every_second(load_partial(from, all), splat(0.0f), All());
        return every_second(load(from), load_partial(from + kLanes - 1, all - (kLanes - 1)), All());
      });
}
#else
RL_INLINE void copy_every_second(float* to, const float* from, size_t count, size_t) {
  for (size_t i = 0; i < count; ++i) to[i] = from[2 * i];
}
#endif

// Any step, also 0 or negative.
RL_INLINE void copy_steps(float* to, const float* from, size_t count, ptrdiff_t step) {
  for (size_t i = 0; i < count; ++i, from += step) to[i] = *from;
}

// The zeros of all rows, in one copy of the code for all steps.
[[gnu::noinline]] void fill_borders(const GatherRows& g) {
  const size_t end = g.before + g.count;
  const size_t total = end + g.after;
  float* to = g.to;
  for (size_t i = 0; i < g.rows; ++i, to += g.to_stride) {
    fill_zeros(to, 0, g.before, total);
    fill_zeros(to, end, total, total);
  }
}

// The kind of copy is chosen once for all rows.
template <class Copy>
RL_INLINE void gather(const GatherRows& g, Copy copy) {
  const float* from = g.from;
  float* to = g.to + g.before;
  const size_t room = g.count + g.after;
  for (size_t i = 0; i < g.rows; ++i, from += g.from_stride, to += g.to_stride) copy(to, from, room);
}

}  // namespace

void gather_rows(const GatherRows& g) {
  if (g.before + g.after > 0) fill_borders(g);
  const size_t count = g.count;
  if (g.step == 1 || count <= 1) {
    // Rows of one vector have straight code.
    if (count == kLanes)
      return gather(g, [](float* to, const float* from, size_t) { store(to, load(from)); });
    return gather(g,
                  [count](float* to, const float* from, size_t room) { copy_span(to, from, count, room); });
  }
  if (g.step == 2) {
    return gather(
        g, [count](float* to, const float* from, size_t room) { copy_every_second(to, from, count, room); });
  }
  const ptrdiff_t step = g.step;
  gather(g, [count, step](float* to, const float* from, size_t) { copy_steps(to, from, count, step); });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
