// SPDX-License-Identifier: BSD-3-Clause
// Interleaves kPlanes vectors by shuffles with constant indices: lane i of result v is element (v * kLanes +
// i) / kPlanes of plane (v * kLanes + i) % kPlanes. A result vector takes kPlanes shuffles of two operands,
// the first of which has one.
#include "kernels/ukernel/interleave.h"

#include <utility>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

#if RL_VECTOR_BYTES > 4
// Result vector kVector with the lanes of planes up to kPlane; lanes of other planes are undefined.
template <size_t kPlanes, size_t kVector, size_t kPlane, size_t... kLane>
RL_INLINE F32 mixed(const F32 (&in)[kPlanes], std::index_sequence<kLane...> lanes) {
  constexpr size_t kFirst = kVector * kLanes;
  if constexpr (kPlane == 0) {
    return __builtin_shufflevector(in[0], in[0], ((kFirst + kLane) / kPlanes)...);
  } else {
    const F32 others = mixed<kPlanes, kVector, kPlane - 1>(in, lanes);
    return __builtin_shufflevector(
        others, in[kPlane],
        ((kFirst + kLane) % kPlanes == kPlane ? kLanes + (kFirst + kLane) / kPlanes : kLane)...);
  }
}

// Stores all kPlanes result vectors.
template <size_t kPlanes, size_t... kVector>
RL_INLINE void store_mixed(const F32 (&in)[kPlanes], float* to, std::index_sequence<kVector...>) {
  (store(to + kVector * kLanes, mixed<kPlanes, kVector, kPlanes - 1>(in, std::make_index_sequence<kLanes>())),
   ...);
}

// Interleaves whole vectors; returns the number of elements done.
template <size_t kPlanes>
size_t interleave_vectors(size_t count, const float* from, ptrdiff_t stride, float* to) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    F32 in[kPlanes];
    RL_UNROLL for (size_t p = 0; p < kPlanes; ++p) in[p] =
        load(from + static_cast<ptrdiff_t>(p) * stride + i);
    store_mixed<kPlanes>(in, to + i * kPlanes, std::make_index_sequence<kPlanes>());
  }
  return i;
}
#else
template <size_t kPlanes>
size_t interleave_vectors(size_t, const float*, ptrdiff_t, float*) {
  return 0;
}
#endif

// Whole vectors, then single elements.
template <size_t kPlanes>
void interleave_planes(size_t count, const float* from, ptrdiff_t stride, float* to) {
  for (size_t i = interleave_vectors<kPlanes>(count, from, stride, to); i < count; ++i) {
    for (size_t p = 0; p < kPlanes; ++p) to[i * kPlanes + p] = from[static_cast<ptrdiff_t>(p) * stride + i];
  }
}

}  // namespace

void interleave(size_t count, size_t planes, const float* from, ptrdiff_t stride, float* to) {
  if (planes == 1) return interleave_planes<1>(count, from, stride, to);
  if (planes == 2) return interleave_planes<2>(count, from, stride, to);
  if (planes == 3) return interleave_planes<3>(count, from, stride, to);
  interleave_planes<4>(count, from, stride, to);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
