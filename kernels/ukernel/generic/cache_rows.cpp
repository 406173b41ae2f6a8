// SPDX-License-Identifier: BSD-3-Clause
// Each cache element is converted once for all float32 rows. A tile of products has up to four rows and four
// cache rows; a tile of sums has up to four rows and as many vectors as the registers hold.
#include "kernels/ukernel/cache_rows.h"

#include "kernels/ukernel/generic/lane_sums.h"
#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/generic/widen.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kVectors = RL_VECTOR_BYTES == 64 ? 4 : 2;  // vectors in a tile of sums

// Products of kR rows with the kC <= 4 cache rows from `at` on.
template <size_t kR, size_t kC, class T>
RL_INLINE void multiply(const CacheRows<T>& rows, size_t at) {
  F32 sums[kR][kC];
  const T* cache[kC];
  RL_UNROLL for (size_t j = 0; j < kC; ++j) cache[j] = rows.cache + (at + j) * rows.depth;
  RL_UNROLL for (size_t i = 0; i < kR; ++i) {
    RL_UNROLL for (size_t j = 0; j < kC; ++j) sums[i][j] = splat(0.0f);
  }
  // One step of the depth. The loads are arguments, so that whole and partial vectors share the code.
  const auto add = [&](auto widened, auto loaded) __attribute__((always_inline)) {
    F32 row[kC];
    RL_UNROLL for (size_t j = 0; j < kC; ++j) row[j] = widened(cache[j]);
    RL_UNROLL for (size_t i = 0; i < kR; ++i) {
      const F32 left = loaded(rows.left + static_cast<ptrdiff_t>(i) * rows.left_stride);
      RL_UNROLL for (size_t j = 0; j < kC; ++j) sums[i][j] = multiply_add(left, row[j], sums[i][j]);
    }
  };
  size_t p = 0;
  for (; p + kLanes <= rows.depth; p += kLanes) {
    add([=](const T* from) __attribute__((always_inline)) { return load_widened(from + p); },
        [=](const float* from) __attribute__((always_inline)) { return load(from + p); });
  }
  if (p < rows.depth) {
    const size_t left = rows.depth - p;
    add([=](const T* from) __attribute__((always_inline)) { return load_widened_partial(from + p, left); },
        [=](const float* from) __attribute__((always_inline)) { return load_partial(from + p, left); });
  }
  RL_UNROLL for (size_t i = 0; i < kR; ++i) {
    float* const out = rows.out + static_cast<ptrdiff_t>(i) * rows.out_stride + at;
    // Four sums of lanes at once, or one: both have the same order.
    if constexpr (kC == 4) {
      store_lane_sums(out, sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
    } else {
      RL_UNROLL for (size_t j = 0; j < kC; ++j) out[j] = lane_sum(sums[i][j]);
    }
  }
}

// Four cache rows at a time, then single ones: the sums have the same order in both.
template <size_t kR, class T>
void multiply_rows(const CacheRows<T>& rows) {
  size_t at = 0;
  for (; at + 4 <= rows.count; at += 4) multiply<kR, 4>(rows, at);
  for (; at < rows.count; ++at) multiply<kR, 1>(rows, at);
}

// The number of rows is a constant in each branch, so that sums are arrays in registers.
template <class T>
RL_INLINE void products(const CacheRows<T>& rows) {
  static_assert(kCacheRows == 4);
  switch (rows.rows) {
    case 1:
      return multiply_rows<1>(rows);
    case 2:
      return multiply_rows<2>(rows);
    case 3:
      return multiply_rows<3>(rows);
    default:
      return multiply_rows<4>(rows);
  }
}

// Adds to kR x kV vectors of sums. `widened`, `loaded` and `stored` access whole or partial vectors.
template <size_t kR, size_t kV, class T, class Widened, class Loaded, class Stored>
RL_INLINE void add_values(const CacheRows<T>& rows, size_t p, Widened widened, Loaded loaded, Stored stored) {
  F32 sums[kR][kV];
  const auto out = [&](size_t i, size_t v) __attribute__((always_inline)) {
    return rows.out + static_cast<ptrdiff_t>(i) * rows.out_stride + p + v * kLanes;
  };
  RL_UNROLL for (size_t i = 0; i < kR; ++i) {
    RL_UNROLL for (size_t v = 0; v < kV; ++v) sums[i][v] = loaded(out(i, v));
  }
  const T* cache = rows.cache + p;
  for (size_t j = 0; j < rows.count; ++j, cache += rows.depth) {
    F32 values[kV];
    RL_UNROLL for (size_t v = 0; v < kV; ++v) values[v] = widened(cache + v * kLanes);
    RL_UNROLL for (size_t i = 0; i < kR; ++i) {
      const F32 weight =
          splat(rows.left[static_cast<ptrdiff_t>(i) * rows.left_stride + static_cast<ptrdiff_t>(j)]);
      RL_UNROLL for (size_t v = 0; v < kV; ++v) sums[i][v] = multiply_add(weight, values[v], sums[i][v]);
    }
  }
  RL_UNROLL for (size_t i = 0; i < kR; ++i) {
    RL_UNROLL for (size_t v = 0; v < kV; ++v) stored(out(i, v), sums[i][v]);
  }
}

// Whole vectors, without tests.
template <size_t kR, size_t kV, class T>
RL_INLINE void add_whole(const CacheRows<T>& rows, size_t p) {
  add_values<kR, kV>(
      rows, p, [](const T* from) __attribute__((always_inline)) { return load_widened(from); },
      [](const float* from) __attribute__((always_inline)) { return load(from); },
      [](float* to, F32 sum) __attribute__((always_inline)) { store(to, sum); });
}

// Columns of the cache are the outer loop: a tile of sums stays in registers for all cache rows.
template <size_t kR, class T>
void add_rows(const CacheRows<T>& rows) {
  size_t p = 0;
  for (; p + kVectors * kLanes <= rows.depth; p += kVectors * kLanes) add_whole<kR, kVectors>(rows, p);
  for (; p + kLanes <= rows.depth; p += kLanes) add_whole<kR, 1>(rows, p);
  if (p == rows.depth) return;
  const size_t left = rows.depth - p;
  add_values<kR, 1>(
      rows, p, [=](const T* from) __attribute__((always_inline)) { return load_widened_partial(from, left); },
      [=](const float* from) __attribute__((always_inline)) { return load_partial(from, left); },
      [=](float* to, F32 sum) __attribute__((always_inline)) { store_partial(to, sum, left); });
}

template <class T>
RL_INLINE void sums(const CacheRows<T>& rows) {
  switch (rows.rows) {
    case 1:
      return add_rows<1>(rows);
    case 2:
      return add_rows<2>(rows);
    case 3:
      return add_rows<3>(rows);
    default:
      return add_rows<4>(rows);
  }
}

}  // namespace

void cache_products_half(const CacheRows<uint16_t>& rows) { products(rows); }
void cache_products_i8(const CacheRows<int8_t>& rows) { products(rows); }
void cache_sums_half(const CacheRows<uint16_t>& rows) { sums(rows); }
void cache_sums_i8(const CacheRows<int8_t>& rows) { sums(rows); }

// Both halves of a pair are loaded before either is stored.
void rotate_halves(size_t n, float* first, float* second, const float* cos, const float* sin) {
  const auto rotate = [=](size_t i, auto loaded, auto stored) __attribute__((always_inline)) {
    const F32 a = loaded(first + i);
    const F32 b = loaded(second + i);
    const F32 c = loaded(cos + i);
    const F32 s = loaded(sin + i);
    stored(first + i, a * c - b * s);
    stored(second + i, b * c + a * s);
  };
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    rotate(
        i, [](const float* from) __attribute__((always_inline)) { return load(from); },
        [](float* to, F32 value) __attribute__((always_inline)) { store(to, value); });
  }
  if (i == n) return;
  const size_t left = n - i;
  rotate(
      i, [=](const float* from) __attribute__((always_inline)) { return load_partial(from, left); },
      [=](float* to, F32 value) __attribute__((always_inline)) { store_partial(to, value, left); });
}

// Scalars, since the pairs are interleaved.
void rotate_pairs(size_t n, float* row, const float* cos, const float* sin) {
  for (size_t i = 0; i < n; ++i) {
    const float a = row[2 * i];
    const float b = row[2 * i + 1];
    row[2 * i] = a * cos[i] - b * sin[i];
    row[2 * i + 1] = b * cos[i] + a * sin[i];
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
