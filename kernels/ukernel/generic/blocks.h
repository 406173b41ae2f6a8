// SPDX-License-Identifier: BSD-3-Clause
// Blocked sums in the order of kernels/ukernel/reduce.h, and loops over rows in tiles of columns.
#pragma once

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

inline constexpr size_t kPartials = kLanes == 1 ? 4 : 32;
inline constexpr size_t kChain = 64;  // additions before a partial sum joins the next level

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

// Sums n elements from index i on. term(i, count) returns elements i to i + count, with 0 in the other lanes.
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
  // One block needs no second level. The start value 0 makes -0 impossible, so that the result is the same.
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

// Keeps the first `count` lanes; the others become 0.
RL_INLINE F32 first_of(F32 value, size_t count) {
  if (count == kLanes) return value;
  float lanes[kLanes];
  store(lanes, value);
  return load_partial(lanes, count);
}

// Loads 0 < n < kLanes elements; the other lanes repeat the first one.
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

// Columns of a row: kCount whole vectors, or one vector of which `last` lanes are valid.
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

// Calls body(tile, first column) for all n columns, with tiles of kCount vectors, then of one.
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

// result[v] = blocked sum of term(row, v) over the rows, for each vector v of a tile.
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
