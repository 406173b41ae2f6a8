// SPDX-License-Identifier: BSD-3-Clause
// Three passes: maximum, exponentials with their sum, scaling. Columns are processed in tiles of four
// vectors, so that each row of x is read contiguously.
#include "kernels/ukernel/softmax.h"

#include <type_traits>

#include "kernels/ukernel/generic/blocks.h"
#include "kernels/ukernel/generic/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// May drop a NaN, which then returns through the sum of exponentials.
RL_INLINE F32 larger(F32 a, F32 b) { return select(a > b, a, b); }

// Two chains; the last vector overlaps, which changes no maximum.
RL_INLINE float largest_of_span(size_t n, const float* x) {
  const auto of_two = [](F32 a, F32 b) { return larger(a, b); };
  if (n < kLanes) return reduce(load_repeated(x, n), of_two);
  F32 even = load(x);
  F32 odd = even;
  size_t i = kLanes;
  for (; n - i >= 2 * kLanes; i += 2 * kLanes) {
    even = larger(even, load(x + i));
    odd = larger(odd, load(x + i + kLanes));
  }
  if (n - i >= kLanes) even = larger(even, load(x + i));
  return reduce(larger(larger(even, odd), load(x + n - kLanes)), of_two);
}

// exp(x) for x <= 0 with the error of vector_math.h, but 0 instead of subnormal results.
RL_INLINE F32 exp_of_difference(F32 x) {
  // Adding kShift leaves the nearest integer plus the exponent bias in the low bits.
  constexpr float kShift = 0x1.8p23f + 127;
  const F32 shifted = x * splat(0x1.715476p+0f) + splat(kShift);
  const F32 n = shifted - splat(kShift);
  const F32 r = (x - n * splat(0x1.63p-1f)) - n * splat(-0x1.bd0106p-13f);  // Cody-Waite: ln 2 in two parts
  const F32 power = expm1_of_rest(r) + splat(1.0f);
  return select(x < splat(-87.0f), F32{}, power * from_bits(bits(shifted) << 23));
}

// y[i] = update(x[i]) for all elements.
template <class Update>
RL_INLINE void map_span(size_t n, const float* x, float* y, Update update) {
  size_t i = 0;
  for (; n - i >= kLanes; i += kLanes) store(y + i, update(load(x + i)));
  if (i < n) store_partial(y + i, update(load_partial(x + i, n - i)), n - i);
}

// The exponentials are stored while they are summed, and scaled in place by 1 / sum afterwards. The logarithm
// stores nothing until the sum is known.
template <bool kLogarithm>
RL_INLINE void along_span(size_t n, const float* x, float* y) {
  const F32 largest = splat(largest_of_span(n, x));
  const float sum = sum_terms(n, [=](size_t i, size_t count) {
    if (count == kLanes) {
      const F32 value = exp_of_difference(load(x + i) - largest);
      if (!kLogarithm) store(y + i, value);
      return value;
    }
    const F32 value = exp_of_difference(load_partial(x + i, count) - largest);
    if (!kLogarithm) store_partial(y + i, value, count);
    return first_of(value, count);
  });
  if (kLogarithm) {
    // One logarithm for the span.
    const F32 shift = log(splat(sum));
    map_span(n, x, y, [=](F32 value) { return value - largest - shift; });
  } else {
    const F32 factor = splat(1.0f / sum);
    map_span(n, y, y, [=](F32 value) { return value * factor; });
  }
}

// The three passes over a tile of columns, whose maxima and sums stay in registers; rows are read from top to
// bottom in each.
template <bool kLogarithm>
RL_INLINE void down_columns(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x,
                            float* y) {
  for_each_tile<kLanes == 1 ? 1 : 4>(n, [&](const auto& tile, size_t j) {
    constexpr size_t kCount = std::decay_t<decltype(tile)>::kVectors;
    const auto x_at = [&](size_t row) { return x + j + static_cast<ptrdiff_t>(row) * x_stride; };
    const auto y_at = [&](size_t row) { return y + j + static_cast<ptrdiff_t>(row) * y_stride; };
    F32 largest[kCount];
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) largest[v] = tile.read(x_at(0), v);
    for (size_t row = 1; row < rows; ++row) {
      RL_UNROLL for (size_t v = 0; v < kCount; ++v) largest[v] = larger(largest[v], tile.read(x_at(row), v));
    }
    F32 sums[kCount];
    sum_tile<kCount>(rows, sums, [&](size_t row, size_t v) {
      const F32 value = exp_of_difference(tile.read(x_at(row), v) - largest[v]);
      if (!kLogarithm) tile.write(y_at(row), v, value);
      return value;
    });
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) sums[v] = kLogarithm ? log(sums[v]) : 1.0f / sums[v];
    for (size_t row = 0; row < rows; ++row) {
      RL_UNROLL for (size_t v = 0; v < kCount; ++v) {
        const F32 value =
            kLogarithm ? tile.read(x_at(row), v) - largest[v] - sums[v] : tile.read(y_at(row), v) * sums[v];
        tile.write(y_at(row), v, value);
      }
    }
  });
}

}  // namespace

void softmax_span(size_t n, const float* x, float* y) { along_span<false>(n, x, y); }
void log_softmax_span(size_t n, const float* x, float* y) { along_span<true>(n, x, y); }

void softmax_rows(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x, float* y) {
  down_columns<false>(rows, x_stride, y_stride, n, x, y);
}
void log_softmax_rows(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x,
                      float* y) {
  down_columns<true>(rows, x_stride, y_stride, n, x, y);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
