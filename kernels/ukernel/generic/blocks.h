// SPDX-License-Identifier: BSD-3-Clause
// Blocked sums in the order of kernels/ukernel/reduce.h, and loops over rows in tiles of columns.
//
// Element i of a span belongs to partial sum i % kPartials. The partial sums fill as many vectors as the
// width requires, so that the result has the same bits on all variants with vectors:
//
//   vectors of 16 lanes     elements 0-15 | 16-31                          then 32-47 | 48-63, ...
//   vectors of 8 lanes      elements 0-7  | 8-15  | 16-23 | 24-31          then 32-39 | ...
//   vectors of 4 lanes      elements 0-3  | 4-7   | ...           | 28-31  then 32-35 | ...
//
// A partial sum adds its terms in chains of at most kChain on each of the two lower levels. Its rounding
// error grows with 2 * kChain plus the number of the largest blocks instead of with n, at the cost of one
// addition an element.
#pragma once

#include "kernels/ukernel/generic/extremes.h"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// kPartials and kChain are part of the contract of reduce.h, and reference::blocked_sum() has them as
// literals: another value changes the bits of all sums. Scalar cores use 4 partial sums, since 32 would not
// fit in their registers.
inline constexpr size_t kPartials = kLanes == 1 ? 4 : 32;
inline constexpr size_t kChain = 64;  // additions before a partial sum joins the next level

// The partial sums of a block: partial sum p is lane p % kLanes of vector p / kLanes. All start at 0.
struct Partials {
  static constexpr size_t kVectors = kPartials / kLanes;
  F32 sums[kVectors] = {};

  RL_INLINE void add(const Partials& other) {
    RL_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[v] += other.sums[v];
  }
  // Adds the second half of the first kCount vectors to the first half, until one vector is left, and then
  // its lanes in the same manner: partial sum p is added to p + 16, then p + 8, p + 4, p + 2 and p + 1, for
  // any width. Overwrites the sums.
  template <size_t kCount = kVectors>
  RL_INLINE float total() {
    if constexpr (kCount > 1) {
      RL_UNROLL for (size_t v = 0; v < kCount / 2; ++v) sums[v] += sums[v + kCount / 2];
      return total<kCount / 2>();
    }
    return sum_of_lanes(sums[0]);
  }
};

// Sums n elements from index i on. term(i, count) returns elements i to i + count, with 0 in the other lanes;
// it is called with whole vectors, except for the last one. The vectors of an iteration are independent,
// which hides the latency of the additions.
template <class Term>
RL_INLINE Partials sum_block(size_t i, size_t n, Term term) {
  Partials block;
  for (; n >= kPartials; n -= kPartials, i += kPartials) {
    RL_UNROLL for (size_t v = 0; v < Partials::kVectors; ++v) block.sums[v] += term(i + v * kLanes, kLanes);
  }
  // One copy of the term for all vectors of the rest: unrolled, it was most of the code of softmax.
  for (size_t at = 0; at < n; at += kLanes) {
    const F32 value = term(i + at, n - at < kLanes ? n - at : kLanes);
    RL_UNROLL for (size_t v = 0; v < Partials::kVectors; ++v) {
      if (at == v * kLanes) block.sums[v] += value;
    }
  }
  return block;
}

// Sums n terms on three levels and returns the total; the sum of no terms is 0:
//
//   block     kChain * kPartials elements: kChain additions for each partial sum
//   blocks    kChain blocks, partial sum by partial sum
//   total     all of these, then total() across the partial sums
//
// Calls term() once for each vector, in order, so that it may also store what it computes (softmax does).
template <class Term>
RL_INLINE float sum_terms(size_t n, Term term) {
  constexpr size_t kBlock = kChain * kPartials;
  Partials total;
  Partials blocks;
  size_t i = 0;
  for (size_t count = 1;; ++count) {
    const size_t taken = n - i < kBlock ? n - i : kBlock;
    Partials block = sum_block(i, taken, term);
    // One block needs no second level. The start value 0 makes -0 impossible, so that the result is the same.
    if (n <= kBlock) return block.total();
    blocks.add(block);
    i += taken;
    if (i == n) break;
    if (count % kChain != 0) continue;
    total.add(blocks);
    blocks = Partials();
  }
  total.add(blocks);
  return total.total();
}

// Keeps the first `count` lanes; the others become 0, also if they are NaN, which a product with a mask would
// keep. Goes through the stack.
RL_INLINE F32 first_of(F32 value, size_t count) {
  if (count == kLanes) return value;
  float lanes[kLanes];
  store(lanes, value);
  return load_partial(lanes, count);
}

// Loads 0 < n < kLanes elements; the other lanes repeat the first one, which changes no maximum or minimum.
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

// Columns of a row: kCount whole vectors, or one vector of which `last` lanes are valid. `last` is a constant
// in loops over whole vectors, so that their loads and stores compile without the test.
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

// Calls body(tile, first column) for all n columns, with tiles of kCount vectors, then of one. The body is
// compiled twice, for Tile<kCount> and Tile<1>; it reads kVectors of its tile to size its arrays. With kCount
// = 1, whole vectors and the partial one have separate calls.
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

// result[v] = blocked sum of term(row, v) over the rows, for each vector v of a tile. Each column is one
// partial sum with the levels of sum_terms(): kChain rows, kChain^2 rows, and the total. Keeps 3 * kCount
// vectors of sums in registers.
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
