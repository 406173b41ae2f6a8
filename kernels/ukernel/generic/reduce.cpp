// SPDX-License-Identifier: BSD-3-Clause
// Reductions over vectors of the compiler. blocks.h has the order of sums; minima and maxima are exact in any
// order, so that a tail is read as a full, overlapping vector.
#include "kernels/ukernel/reduce.h"

#include <type_traits>

#include "kernels/ukernel/generic/blocks.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// The order of a reduction. beats(): true where `a` replaces `b`; ties keep the earlier element. better():
// NaN replaces everything and stays.
struct Largest {
  RL_INLINE static M32 beats(F32 a, F32 b) { return a > b; }
  RL_INLINE static F32 better(F32 best, F32 x) { return larger(best, x); }
};
struct Smallest {
  RL_INLINE static M32 beats(F32 a, F32 b) { return a < b; }
  RL_INLINE static F32 better(F32 best, F32 x) { return smaller(best, x); }
};

// Four chains of vectors hide the latency of comparison and selection.
template <class Order>
RL_INLINE float best_of_span(size_t n, const float* x) {
  constexpr size_t kCount = 4;
  const auto of_two = [](F32 a, F32 b) { return Order::better(a, b); };
  if (n < kLanes) return reduce(load_repeated(x, n), of_two);
  F32 best[kCount];
  for (F32& each : best) each = load(x);
  size_t i = 0;
  for (; n - i >= kCount * kLanes; i += kCount * kLanes) {
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) best[v] = Order::better(best[v], load(x + i + v * kLanes));
  }
  for (; n - i >= kLanes; i += kLanes) best[0] = Order::better(best[0], load(x + i));
  if (i < n) best[0] = Order::better(best[0], load(x + n - kLanes));  // overlaps elements already compared
  // Joins the chains by pairs.
  best[0] = Order::better(best[0], best[1]);
  best[2] = Order::better(best[2], best[3]);
  return reduce(Order::better(best[0], best[2]), of_two);
}

// Columns in tiles of four vectors, whose results stay in registers for all rows. rows > 0.
template <class Order>
RL_INLINE void best_of_rows(size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y) {
  for_each_tile(n, [&](const auto& tile, size_t j) {
    constexpr size_t kCount = std::decay_t<decltype(tile)>::kVectors;
    F32 best[kCount];
    const float* from = x + j;
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) best[v] = tile.read(from, v);
    for (size_t row = 1; row < rows; ++row) {
      from += stride;
      RL_UNROLL for (size_t v = 0; v < kCount; ++v) best[v] = Order::better(best[v], tile.read(from, v));
    }
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) tile.write(y + j, v, best[v]);
  });
}

// One vector of columns at a time, as values and indices both stay in registers. The first NaN wins: a later
// one does not replace it.
template <class Order>
RL_INLINE void arg_of_rows(size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y,
                           int32_t* index) {
  for (size_t j = 0; j < n; j += kLanes) {
    const Tile<1> tile{n - j < kLanes ? n - j : kLanes};
    const float* from = x + j;
    F32 best = tile.read(from, 0);
    I32 found = splat(int32_t{0});
    for (size_t row = 1; row < rows; ++row) {
      from += stride;
      const F32 value = tile.read(from, 0);
      const M32 wins = Order::beats(value, best) | ((value != value) & (best == best));
      best = select(wins, value, best);
      found = select(wins, splat(static_cast<int32_t>(row)), found);
    }
    tile.write(y + j, 0, best);
    std::memcpy(index + j, &found, tile.last * sizeof(int32_t));
  }
}

}  // namespace

float sum_span(size_t n, const float* x) {
  return sum_terms(
      n, [=](size_t i, size_t count) { return count == kLanes ? load(x + i) : load_partial(x + i, count); });
}

float squares_span(size_t n, const float* x, float mean) {
  const F32 center = splat(mean);
  return sum_terms(n, [=](size_t i, size_t count) {
    const F32 apart = (count == kLanes ? load(x + i) : load_partial(x + i, count)) - center;
    // Lanes past the end hold mean^2 here.
    return first_of(apart * apart, count);
  });
}

float max_span(size_t n, const float* x) { return best_of_span<Largest>(n, x); }
float min_span(size_t n, const float* x) { return best_of_span<Smallest>(n, x); }

size_t find_span(size_t n, const float* x, float value) {
  const F32 wanted = splat(value);
  const bool nan = value != value;
  const auto found = [&](F32 each) -> M32 { return nan ? each != each : each == wanted; };
  constexpr size_t kCount = 8;
  size_t i = 0;
  for (; kLanes > 1 && n - i >= kCount * kLanes; i += kCount * kLanes) {
    // Eight vectors for each test: any() is slow. The vectors of a block with a hit are searched again.
    M32 of_block{};
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) of_block = of_block | found(load(x + i + v * kLanes));
    if (any(of_block)) break;
  }
  while (kLanes > 1 && n - i >= kLanes && !any(found(load(x + i)))) i += kLanes;
  for (; i < n; ++i) {
    if (nan ? x[i] != x[i] : x[i] == value) break;
  }
  return i;
}

// Columns in tiles of four vectors, all rows of a tile before the next one.
void sum_rows(size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y) {
  for_each_tile(n, [&](const auto& tile, size_t j) {
    constexpr size_t kCount = std::decay_t<decltype(tile)>::kVectors;
    F32 sums[kCount];
    sum_tile<kCount>(rows, sums, [&](size_t row, size_t v) {
      return tile.read(x + j + static_cast<ptrdiff_t>(row) * stride, v);
    });
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) tile.write(y + j, v, sums[v]);
  });
}

void squares_rows(size_t rows, ptrdiff_t stride, size_t n, const float* x, const float* mean, float* y) {
  for_each_tile(n, [&](const auto& tile, size_t j) {
    constexpr size_t kCount = std::decay_t<decltype(tile)>::kVectors;
    // The means of the tile's columns stay in registers.
    F32 center[kCount];
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) center[v] = tile.read(mean + j, v);
    F32 sums[kCount];
    sum_tile<kCount>(rows, sums, [&](size_t row, size_t v) {
      const F32 apart = tile.read(x + j + static_cast<ptrdiff_t>(row) * stride, v) - center[v];
      return apart * apart;
    });
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) tile.write(y + j, v, sums[v]);
  });
}

void max_rows(size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y) {
  best_of_rows<Largest>(rows, stride, n, x, y);
}
void min_rows(size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y) {
  best_of_rows<Smallest>(rows, stride, n, x, y);
}
void argmax_rows(size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y, int32_t* index) {
  arg_of_rows<Largest>(rows, stride, n, x, y, index);
}
void argmin_rows(size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y, int32_t* index) {
  arg_of_rows<Smallest>(rows, stride, n, x, y, index);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
