// SPDX-License-Identifier: BSD-3-Clause
// Horizontal sums of four vectors at once, in a third of the operations of four separate sums: first within
// each four lanes, then by halves. The sum of one vector has the same order and the same bits.
//
// With g[q] = (x[4q] + x[4q + 2]) + (x[4q + 1] + x[4q + 3]) the sum of a vector x is
//
//   4 lanes     g[0]
//   8 lanes     g[0] + g[1]
//   16 lanes    (g[0] + g[2]) + (g[1] + g[3])
//
// so that, unlike the sums of blocks.h, the order depends on the width.
#pragma once

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#if RL_VECTOR_BYTES > 4
// Each four lanes of the result hold two lanes of `a` and two of `b`, from lane kFirst of their four on:
// adjacent with kTwice, else alternating.
template <size_t kFirst, bool kTwice, size_t... kLane>
RL_INLINE F32 mixed_lanes(F32 a, F32 b, std::index_sequence<kLane...>) {
  if constexpr (kTwice) {
    return __builtin_shufflevector(a, b,
                                   (kLane / 4 * 4 + kFirst + kLane % 2 + (kLane % 4 < 2 ? 0 : kLanes))...);
  } else {
    return __builtin_shufflevector(a, b, (kLane / 4 * 4 + kFirst + kLane % 4 / 2 + kLane % 2 * kLanes)...);
  }
}
// Each four lanes of the result hold two sums of `a` and two of `b`. Three calls reduce each four lanes of
// four vectors a, b, c and d to one lane of each, where a02 stands for a[0] + a[2]:
//
//   added_lanes<false>(a, b)      [a02, b02, a13, b13]
//   added_lanes<false>(c, d)      [c02, d02, c13, d13]
//   added_lanes<true>(of these)   [a02 + a13, b02 + b13, c02 + c13, d02 + d13]
template <bool kTwice>
RL_INLINE F32 added_lanes(F32 a, F32 b) {
  constexpr auto kAll = std::make_index_sequence<kLanes>();
  return mixed_lanes<0, kTwice>(a, b, kAll) + mixed_lanes<2, kTwice>(a, b, kAll);
}

// to[0] to to[3] = the sums of the lanes of a, b, c and d. `to` needs the alignment of float only.
RL_INLINE void store_lane_sums(float* to, F32 a, F32 b, F32 c, F32 d) {
  using Four = float __attribute__((vector_size(16)));
  const F32 fours = added_lanes<true>(added_lanes<false>(a, b), added_lanes<false>(c, d));
  Four parts[kLanes / 4];
  std::memcpy(parts, &fours, sizeof(fours));
  RL_UNROLL for (size_t step = kLanes / 8; step > 0; step /= 2) {
    RL_UNROLL for (size_t i = 0; i < step; ++i) parts[i] += parts[i + step];
  }
  std::memcpy(to, parts, sizeof(Four));
}
// The sum of one vector, with the bits that store_lane_sums() gives: a tile of four columns and one of a
// single column agree.
RL_INLINE float lane_sum(F32 value) {
  float sums[4];
  const F32 zero = splat(0.0f);
  store_lane_sums(sums, value, zero, zero, zero);
  return sums[0];
}
#else
RL_INLINE void store_lane_sums(float* to, F32 a, F32 b, F32 c, F32 d) {
  to[0] = a;
  to[1] = b;
  to[2] = c;
  to[3] = d;
}
RL_INLINE float lane_sum(F32 value) { return value; }
#endif

// Doubles: halves are added until one lane is left.
#if RL_VECTOR_BYTES > 4
template <size_t kStep, size_t... kLane>
RL_INLINE double halved_lanes(F64 value, std::index_sequence<kLane...> all) {
  if constexpr (kStep == 0) {
    return value[0];
  } else {
    value += __builtin_shufflevector(value, value, ((kLane + kStep) % kWideLanes)...);
    return halved_lanes<kStep / 2>(value, all);
  }
}
RL_INLINE double lane_sum(F64 value) {
  return halved_lanes<kWideLanes / 2>(value, std::make_index_sequence<kWideLanes>());
}
#else
RL_INLINE double lane_sum(F64 value) { return value; }
#endif
RL_INLINE void store_lane_sums(double* to, F64 a, F64 b, F64 c, F64 d) {
  to[0] = lane_sum(a);
  to[1] = lane_sum(b);
  to[2] = lane_sum(c);
  to[3] = lane_sum(d);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
