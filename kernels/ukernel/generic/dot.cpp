// SPDX-License-Identifier: BSD-3-Clause
// kernels/ukernel/dot.h: four columns at a time, so that there are several sums to work on while each waits
// for its own last addition.
#include "kernels/ukernel/dot.h"

#include <cstring>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

#if RL_VECTOR_BYTES > 4
using Four = float __attribute__((vector_size(16)));

RL_INLINE Four folded(F32 value) {
  Four parts[sizeof(F32) / sizeof(Four)];
  std::memcpy(parts, &value, sizeof(value));
  Four sum = parts[0];
  RL_UNROLL for (size_t i = 1; i < sizeof(F32) / sizeof(Four); ++i) sum += parts[i];
  return sum;
}

// The sum of the lanes of each of kC vectors, of which there is one, or four.
template <size_t kC>
RL_INLINE void sum_lanes(float* to, const F32* sums) {
  if constexpr (kC == 1) {
    const Four sum = folded(sums[0]);
    *to = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  } else {
    const Four a = folded(sums[0]);
    const Four b = folded(sums[1]);
    const Four c = folded(sums[2]);
    const Four d = folded(sums[3]);
    const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const Four low = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5) +
                     __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    const Four high = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5) +
                      __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    const Four all = low + high;
    std::memcpy(to, &all, sizeof(all));
  }
}
#else
template <size_t kC>
RL_INLINE void sum_lanes(float* to, const F32* sums) {
  for (size_t j = 0; j < kC; ++j) to[j] = sums[j];
}
#endif

template <size_t kR, size_t kC>
RL_INLINE void multiply(const DotProducts& dots, size_t column) {
  F32 sums[kR][kC];
  const float* a[kR];
  const float* b[kC];
  RL_UNROLL for (size_t i = 0; i < kR; ++i) {
    a[i] = dots.a + static_cast<ptrdiff_t>(i) * dots.a_stride;
    RL_UNROLL for (size_t j = 0; j < kC; ++j) sums[i][j] = splat(0.0f);
  }
  RL_UNROLL for (size_t j = 0; j < kC; ++j) b[j] =
      dots.b + static_cast<ptrdiff_t>(column + j) * dots.b_stride;
  const auto add = [&](auto load_some) __attribute__((always_inline)) {
    F32 factors[kR];
    RL_UNROLL for (size_t i = 0; i < kR; ++i) factors[i] = load_some(a[i]);
    RL_UNROLL for (size_t j = 0; j < kC; ++j) {
      const F32 row = load_some(b[j]);
      RL_UNROLL for (size_t i = 0; i < kR; ++i) sums[i][j] = multiply_add(factors[i], row, sums[i][j]);
    }
  };
  size_t p = 0;
  for (; p + kLanes <= dots.depth; p += kLanes) {
    add([=](const float* from) __attribute__((always_inline)) { return load(from + p); });
  }
  if (p < dots.depth) {
    add([=, &dots](const float* from)
            __attribute__((always_inline)) { return load_partial(from + p, dots.depth - p); });
  }
  RL_UNROLL for (size_t i = 0; i < kR; ++i) {
    sum_lanes<kC>(dots.c + static_cast<ptrdiff_t>(i) * dots.c_stride + column, sums[i]);
  }
}

template <size_t kR>
void multiply_rows(const DotProducts& dots) {
  size_t column = 0;
  for (; column + 4 <= dots.columns; column += 4) multiply<kR, 4>(dots, column);
  for (; column < dots.columns; ++column) multiply<kR, 1>(dots, column);
}

}  // namespace

void dot_products(const DotProducts& dots) {
  static_assert(kDotRows == 4);
  switch (dots.rows) {
    case 1:
      return multiply_rows<1>(dots);
    case 2:
      return multiply_rows<2>(dots);
    case 3:
      return multiply_rows<3>(dots);
    default:
      return multiply_rows<4>(dots);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
