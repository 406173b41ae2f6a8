// SPDX-License-Identifier: BSD-3-Clause
// Products and weighted sums of float32 rows with rows of a decoder's key/value cache of float16 or int8, and
// the rotary embedding of a row before it is stored. Cache elements are converted in registers, so that the
// cache is read once and never copied. Float32 caches use kernels/ukernel/dot.h and gemm.h.
//
// Memory: accesses only the described elements; alignment of the element type; results overlap no operand.
// Order: a product depends only on its two rows, a sum only on its weights and values; neither depends on
// `count` or on the position among the rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Rows that share the loads and conversions of the cache: with grouped-query attention, the query heads of
// one key/value head.
inline constexpr size_t kCacheRows = 4;

// Up to kCacheRows float32 rows (i) against `count` contiguous cache rows (j) of `depth` elements. Strides
// are in elements.
template <class T>
struct CacheRows {
  size_t rows = 0;  // 1 to kCacheRows
  size_t count = 0;
  size_t depth = 0;
  const T* cache = nullptr;
  const float* left = nullptr;  // queries of `depth` or weights of `count` elements
  ptrdiff_t left_stride = 0;
  float* out = nullptr;  // products of `count` or sums of `depth` elements
  ptrdiff_t out_stride = 0;
};

// out[i][j] = sum over p < depth of left[i][p] * cache[j][p]. uint16_t holds the bits of float16; the caller
// applies the scale of int8.
RL_UKERNEL(void, cache_products_half, (const CacheRows<uint16_t>& rows), (rows))
RL_UKERNEL(void, cache_products_i8, (const CacheRows<int8_t>& rows), (rows))

// out[i][p] += sum over j < count of left[i][j] * cache[j][p], added one at a time in the order of j. The
// caller splits long caches into blocks and rescales `out` between them (attention.h).
RL_UKERNEL(void, cache_sums_half, (const CacheRows<uint16_t>& rows), (rows))
RL_UKERNEL(void, cache_sums_i8, (const CacheRows<int8_t>& rows), (rows))

// Rotary embedding (RoPE), in place: rotates n pairs (a, b) to (a cos - b sin, b cos + a sin). Pair i is
// (first[i], second[i]) in rotate_halves and (row[2 i], row[2 i + 1]) in rotate_pairs. cos and sin have n
// elements.
RL_UKERNEL(void, rotate_halves, (size_t n, float* first, float* second, const float* cos, const float* sin),
           (n, first, second, cos, sin))
RL_UKERNEL(void, rotate_pairs, (size_t n, float* row, const float* cos, const float* sin), (n, row, cos, sin))

}  // namespace rushlight::ukernel
