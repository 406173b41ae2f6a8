// SPDX-License-Identifier: BSD-3-Clause
// Transposes squares of kLanes vectors in registers, in log2(kLanes) rounds of interleaving: kLanes loads and
// stores and kLanes log2(kLanes) shuffles for kLanes^2 elements. Residual and clamp are applied to rows of
// the result before they are stored.
#include "kernels/ukernel/transpose_clamp.h"

#include <utility>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

#if RL_VECTOR_BYTES > 4
// Alternates the elements of the first (or second) halves of a and b.
template <size_t... I>
RL_INLINE F32 zip_low(F32 a, F32 b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (I / 2 + I % 2 * kLanes)...);
}
template <size_t... I>
RL_INLINE F32 zip_high(F32 a, F32 b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (kLanes / 2 + I / 2 + I % 2 * kLanes)...);
}
// Each round swaps one bit of the lane index with one bit of the vector index.
RL_INLINE void transpose_lanes(F32 (&square)[kLanes]) {
  constexpr auto kAll = std::make_index_sequence<kLanes>();
  RL_UNROLL for (size_t round = 1; round < kLanes; round *= 2) {
    F32 zipped[kLanes];
    RL_UNROLL for (size_t i = 0; i < kLanes / 2; ++i) {
      zipped[2 * i] = zip_low(square[i], square[i + kLanes / 2], kAll);
      zipped[2 * i + 1] = zip_high(square[i], square[i + kLanes / 2], kAll);
    }
    RL_UNROLL for (size_t i = 0; i < kLanes; ++i) square[i] = zipped[i];
  }
}
#else
RL_INLINE void transpose_lanes(F32 (&)[kLanes]) {}
#endif

// A square of up to kLanes rows and columns at (i, j).
RL_INLINE void transpose_square(const TransposeClamp& t, size_t i, size_t j, size_t rows, size_t columns) {
  F32 square[kLanes];
  const float* from = t.from + static_cast<ptrdiff_t>(i) * t.from_stride + j;
  RL_UNROLL for (size_t r = 0; r < kLanes; ++r) {
    square[r] = r >= rows           ? splat(0.0f)
                : columns == kLanes ? load(from + static_cast<ptrdiff_t>(r) * t.from_stride)
                                    : load_partial(from + static_cast<ptrdiff_t>(r) * t.from_stride, columns);
  }
  transpose_lanes(square);
  const F32 low = splat(t.low);
  const F32 high = splat(t.high);
  RL_UNROLL for (size_t c = 0; c < kLanes; ++c) {
    if (c >= columns) return;
    const ptrdiff_t at = static_cast<ptrdiff_t>(j + c) * t.to_stride + static_cast<ptrdiff_t>(i);
    F32 value = square[c];
    if (t.residual != nullptr) {
      value += rows == kLanes ? load(t.residual + at) : load_partial(t.residual + at, rows);
    }
    value = at_most(at_least(value, low), high);
    if (rows == kLanes) {
      store(t.to + at, value);
    } else {
      store_partial(t.to + at, value, rows);
    }
  }
}

}  // namespace

// Columns of `from` are the outer loop: kLanes rows of `to` are written from start to end.
void transpose_clamped(const TransposeClamp& t) {
  for (size_t j = 0; j < t.columns; j += kLanes) {
    const size_t columns = t.columns - j < kLanes ? t.columns - j : kLanes;
    size_t i = 0;
    if (columns == kLanes) {
      for (; i + kLanes <= t.rows; i += kLanes) transpose_square(t, i, j, kLanes, kLanes);
    }
    for (; i < t.rows; i += kLanes) {
      transpose_square(t, i, j, t.rows - i < kLanes ? t.rows - i : kLanes, columns);
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
