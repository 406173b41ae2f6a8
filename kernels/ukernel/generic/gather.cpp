// SPDX-License-Identifier: BSD-3-Clause
// Strided gathers over vectors of the compiler; step 2 uses shuffles, other steps scalar loads. Nothing past
// the last element of a span is read: the second load of a pair of vectors overlaps the first one by an
// element.
#include "kernels/ukernel/gather.h"

#include <utility>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE void fill_zeros(float* to, size_t count) {
  for (; count >= kLanes; count -= kLanes, to += kLanes) store(to, splat(0.0f));
  if (count > 0) store_partial(to, splat(0.0f), count);
}

RL_INLINE void copy_span(float* to, const float* from, size_t count) {
  for (; count >= kLanes; count -= kLanes, to += kLanes, from += kLanes) store(to, load(from));
  if (count > 0) store_partial(to, load_partial(from, count), count);
}

#if RL_VECTOR_BYTES > 4
// Elements 0, 2, ... of 2 * kLanes - 1 elements: `high` starts at the last element of `low`, so that nothing
// past the end is read.
template <size_t... I>
RL_INLINE F32 every_second(F32 low, F32 high, std::index_sequence<I...>) {
  return __builtin_shufflevector(low, high, (I < kLanes / 2 ? 2 * I : 2 * I + 1)...);
}
RL_INLINE void copy_every_second(float* to, const float* from, size_t count) {
  for (; count >= kLanes; count -= kLanes, to += kLanes, from += 2 * kLanes) {
    store(to, every_second(load(from), load(from + kLanes - 1), std::make_index_sequence<kLanes>()));
  }
  for (size_t i = 0; i < count; ++i) to[i] = from[2 * i];
}
#else
RL_INLINE void copy_every_second(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = from[2 * i];
}
#endif

// Any step, also 0 or negative.
RL_INLINE void copy_steps(float* to, const float* from, size_t count, ptrdiff_t step) {
  for (size_t i = 0; i < count; ++i, from += step) to[i] = *from;
}

// The kind of copy is chosen once for all rows.
template <class Copy>
RL_INLINE void gather(const GatherRows& g, Copy copy) {
  const float* from = g.from;
  float* to = g.to;
  for (size_t i = 0; i < g.rows; ++i, from += g.from_stride, to += g.to_stride) {
    if (g.before > 0) fill_zeros(to, g.before);
    copy(to + g.before, from);
    if (g.after > 0) fill_zeros(to + g.before + g.count, g.after);
  }
}

}  // namespace

void gather_rows(const GatherRows& g) {
  const size_t count = g.count;
  if (g.step == 1 || count <= 1) {
    // Rows of one vector have straight code.
    if (count == kLanes) return gather(g, [](float* to, const float* from) { store(to, load(from)); });
    return gather(g, [count](float* to, const float* from) { copy_span(to, from, count); });
  }
  if (g.step == 2) {
    return gather(g, [count](float* to, const float* from) { copy_every_second(to, from, count); });
  }
  const ptrdiff_t step = g.step;
  gather(g, [count, step](float* to, const float* from) { copy_steps(to, from, count, step); });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
