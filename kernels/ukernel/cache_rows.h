// SPDX-License-Identifier: BSD-3-Clause
// Rows of a decoder's cache of keys and values: products with rows of float16 and int8, which are converted
// in registers, so that a cache is read once and as it lies; and the rotation of a row before it is stored.
// Rows of float32 need no more than kernels/ukernel/dot.h and gemm.h.
//
// Nothing is read or written but what is described; no alignment but that of the elements; results overlap no
// operand. A product depends on its two rows only, a sum of values on its weights and the values: not on how
// many others there are or on its place among them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr size_t kCacheRows = 4;

// For i < rows of float32 and j < count rows of the cache, which are adjacent, of `depth` elements.
template <class T>
struct CacheRows {
  size_t rows = 0;  // 1 to kCacheRows
  size_t count = 0;
  size_t depth = 0;
  const T* cache = nullptr;
  const float* left = nullptr;  // queries of `depth`, or weights of `count` elements
  ptrdiff_t left_stride = 0;
  float* out = nullptr;  // products of `count`, or sums of `depth` elements
  ptrdiff_t out_stride = 0;
};

// out[i][j] = sum over p < depth of left[i][p] * cache[j][p]. float16 comes as its bits.
RL_UKERNEL(void, cache_products_half, (const CacheRows<uint16_t>& rows), (rows))
RL_UKERNEL(void, cache_products_i8, (const CacheRows<int8_t>& rows), (rows))

// out[i][p] += sum over j < count of left[i][j] * cache[j][p], added one by one in this order.
RL_UKERNEL(void, cache_sums_half, (const CacheRows<uint16_t>& rows), (rows))
RL_UKERNEL(void, cache_sums_i8, (const CacheRows<int8_t>& rows), (rows))

// Rotates n pairs of numbers by angles of which cosine and sine are given: (a, b) becomes (a cos - b sin,
// b cos + a sin), in place. Pair i is (first[i], second[i]), or (row[2 i], row[2 i + 1]).
RL_UKERNEL(void, rotate_halves, (size_t n, float* first, float* second, const float* cos, const float* sin),
           (n, first, second, cos, sin))
RL_UKERNEL(void, rotate_pairs, (size_t n, float* row, const float* cos, const float* sin), (n, row, cos, sin))

}  // namespace rushlight::ukernel
