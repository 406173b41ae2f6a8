// SPDX-License-Identifier: BSD-3-Clause
// Computes four columns at a time, so that independent sums hide the latency of the additions. A vector adds
// kLanes partial sums of each product; up to four vectors of `a` share a load of B, which streams through the
// cache once.
#include "kernels/ukernel/dot.h"

#include <cstring>

#include "kernels/ukernel/generic/lane_sums.h"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Stores the lane sum of each of kC vectors; kC is 1 or 4.
template <size_t kC, class T>
RL_INLINE void sum_lanes(T* to, const VectorOf<T>* sums) {
  if constexpr (kC == 4) {
    store_lane_sums(to, sums[0], sums[1], sums[2], sums[3]);
  } else {
    *to = lane_sum(sums[0]);
  }
}

// A tile of kR x kC sums, one vector each. A step loads kR + kC vectors for kR x kC multiply-adds. Lanes are
// added once, at the end.
template <size_t kR, size_t kC, class T>
RL_INLINE void multiply(const DotProductsOf<T>& dots, size_t column) {
  using Vector = VectorOf<T>;
  constexpr size_t kLanes = kLanesOf<T>;
  Vector sums[kR][kC];
  const T* a[kR];
  const T* b[kC];
  RL_UNROLL for (size_t i = 0; i < kR; ++i) {
    a[i] = dots.a + static_cast<ptrdiff_t>(i) * dots.a_stride;
    RL_UNROLL for (size_t j = 0; j < kC; ++j) sums[i][j] = splat(T(0));
  }
  RL_UNROLL for (size_t j = 0; j < kC; ++j) b[j] =
      dots.b + static_cast<ptrdiff_t>(column + j) * dots.b_stride;
  const auto add = [&](auto load_some) __attribute__((always_inline)) {
    Vector factors[kR];
    RL_UNROLL for (size_t i = 0; i < kR; ++i) factors[i] = load_some(a[i]);
    RL_UNROLL for (size_t j = 0; j < kC; ++j) {
      const Vector row = load_some(b[j]);
      RL_UNROLL for (size_t i = 0; i < kR; ++i) sums[i][j] = multiply_add(factors[i], row, sums[i][j]);
    }
  };
  size_t p = 0;
  for (; p + kLanes <= dots.depth; p += kLanes) {
    add([=](const T* from) __attribute__((always_inline)) { return load(from + p); });
  }
  // Missing elements are 0 in both vectors.
  if (p < dots.depth) {
    add([=, &dots](const T* from)
            __attribute__((always_inline)) { return load_partial(from + p, dots.depth - p); });
  }
  RL_UNROLL for (size_t i = 0; i < kR; ++i) {
    sum_lanes<kC>(dots.c + static_cast<ptrdiff_t>(i) * dots.c_stride + column, sums[i]);
  }
}

// Four columns at a time, then single ones.
template <size_t kR, class T>
void multiply_rows(const DotProductsOf<T>& dots) {
  size_t column = 0;
  for (; column + 4 <= dots.columns; column += 4) multiply<kR, 4>(dots, column);
  for (; column < dots.columns; ++column) multiply<kR, 1>(dots, column);
}

template <class T>
void multiply_all(const DotProductsOf<T>& dots) {
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

}  // namespace

void dot_products(const DotProducts& dots) { multiply_all(dots); }
void dot_products_f64(const DotProductsF64& dots) { multiply_all(dots); }

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
