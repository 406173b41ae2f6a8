// SPDX-License-Identifier: BSD-3-Clause
// How sums are blocked, as kernels/ukernel/reduce.h says, and how rows are cut into tiles of columns.
#pragma once

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

inline constexpr size_t kPartials = kLanes == 1 ? 4 : 32;
inline constexpr size_t kChain = 64;  // additions in a row

struct Partials {
  static constexpr size_t kVectors = kPartials / kLanes;
  F32 sums[kVectors] = {};

  RL_INLINE void add(const Partials& other) {
    RL_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[v] += other.sums[v];
  }
  template <size_t kCount = kVectors>
  RL_INLINE float total() {
    if constexpr (kCount > 1) {
      RL_UNROLL for (size_t v = 0; v < kCount / 2; ++v) sums[v] += sums[v + kCount / 2];
      return total<kCount / 2>();
    }
    return sum_of_lanes(sums[0]);
  }
};

// Of n elements from number i on. term(i, count) has the elements i to i + count, 0 in the other lanes.
template <class Term>
RL_INLINE Partials sum_block(size_t i, size_t n, Term term) {
  Partials block;
  for (; n >= kPartials; n -= kPartials, i += kPartials) {
    RL_UNROLL for (size_t v = 0; v < Partials::kVectors; ++v) block.sums[v] += term(i + v * kLanes, kLanes);
  }
  RL_UNROLL for (size_t v = 0; v < Partials::kVectors; ++v) {
    if (n <= v * kLanes) continue;
    const size_t left = n - v * kLanes;
    block.sums[v] += term(i + v * kLanes, left < kLanes ? left : kLanes);
  }
  return block;
}

template <class Term>
RL_INLINE float sum_terms(size_t n, Term term) {
  constexpr size_t kBlock = kChain * kPartials;
  // Adding it to 0 would change nothing: as it began with 0, no sum is -0.
  if (n <= kBlock) return sum_block(0, n, term).total();
  Partials total;
  Partials blocks;
  size_t i = 0;
  for (size_t count = 1;; ++count) {
    const size_t taken = n - i < kBlock ? n - i : kBlock;
    blocks.add(sum_block(i, taken, term));
    i += taken;
    if (i == n) break;
    if (count % kChain != 0) continue;
    total.add(blocks);
    blocks = Partials();
  }
  total.add(blocks);
  return total.total();
}

// The first `count` lanes, the others 0.
RL_INLINE F32 first_of(F32 value, size_t count) {
  if (count == kLanes) return value;
  float lanes[kLanes];
  store(lanes, value);
  return load_partial(lanes, count);
}

// Of n < kLanes elements, not 0; the other lanes are one of them.
RL_INLINE F32 load_repeated(const float* x, [[maybe_unused]] size_t n) {
  const F32 first = splat(x[0]);
#if RL_VECTOR_BYTES > 4
  int32_t lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = static_cast<int32_t>(i);
  I32 number;
  std::memcpy(&number, lanes, sizeof(number));
  return select(number < splat(static_cast<int32_t>(n)), load_partial(x, n), first);
#else
  return first;
#endif
}

// Columns of a row: kCount vectors, or one of which the first `last` lanes are there.
template <size_t kCount>
struct Tile {
  static constexpr size_t kVectors = kCount;
  size_t last = kLanes;

  RL_INLINE F32 read(const float* x, size_t v) const {
    return kCount > 1 || last == kLanes ? load(x + v * kLanes) : load_partial(x, last);
  }
  RL_INLINE void write(float* y, size_t v, F32 value) const {
    if (kCount > 1 || last == kLanes) return store(y + v * kLanes, value);
    store_partial(y, value, last);
  }
};

// body(tile, first column), for all of n columns. A tile is kCount vectors or one.
template <size_t kCount = 4, class Body>
RL_INLINE void for_each_tile(size_t n, Body body) {
  size_t j = 0;
  if constexpr (kCount > 1) {
    for (; n - j >= kCount * kLanes; j += kCount * kLanes) body(Tile<kCount>(), j);
  } else {
    for (; n - j >= kLanes; j += kLanes) body(Tile<1>(), j);
    if (kLanes == 1) return;
  }
  for (; j < n; j += kLanes) body(Tile<1>{n - j < kLanes ? n - j : kLanes}, j);
}

// The sum of term(row, v) over the rows, for each vector v of a tile.
template <size_t kCount, class Term>
RL_INLINE void sum_tile(size_t rows, F32* result, Term term) {
  F32 total[kCount] = {};
  F32 blocks[kCount] = {};
  F32 sums[kCount] = {};
  for (size_t row = 0; row < rows;) {
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) sums[v] += term(row, v);
    if (++row % kChain != 0) continue;
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) {
      blocks[v] += sums[v];
      sums[v] = F32{};
      if (row % (kChain * kChain) != 0) continue;
      total[v] += blocks[v];
      blocks[v] = F32{};
    }
  }
  RL_UNROLL for (size_t v = 0; v < kCount; ++v) result[v] = total[v] + (blocks[v] + sums[v]);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
