// SPDX-License-Identifier: BSD-3-Clause
// kernels/ukernel/resample.h.
#include <utility>

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/resample.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE F32 blended(F32 a, F32 b, float share) { return multiply_add(b, splat(share), a * (1.0f - share)); }

RL_INLINE void repeat_each(size_t n, size_t times, const float* row, float* out) {
  for (size_t i = 0; i < n; ++i) {
    const float value = row[i];
    for (size_t j = 0; j < times; ++j) *out++ = value;
  }
}

#if RL_VECTOR_BYTES > 4
// Vector kPart of the kTimes that a vector's elements fill.
template <size_t kTimes, size_t kPart, size_t... kLane>
RL_INLINE F32 repeated(F32 value, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(value, value, ((kPart * kLanes + kLane) / kTimes)...);
}
template <size_t kTimes, size_t... kPart>
RL_INLINE void repeat_vector(const float* row, float* out, std::index_sequence<kPart...>) {
  const F32 value = load(row);
  (store(out + kPart * kLanes, repeated<kTimes, kPart>(value, std::make_index_sequence<kLanes>())), ...);
}
template <size_t kTimes>
RL_INLINE void repeat(size_t n, const float* row, float* out) {
  if (n < kLanes) return repeat_each(n, kTimes, row, out);
  constexpr auto kParts = std::make_index_sequence<kTimes>();
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) repeat_vector<kTimes>(row + i, out + i * kTimes, kParts);
  if (i == n) return;
  i = n - kLanes;  // some of them again
  repeat_vector<kTimes>(row + i, out + i * kTimes, kParts);
}
#else
template <size_t kTimes>
RL_INLINE void repeat(size_t n, const float* row, float* out) {
  repeat_each(n, kTimes, row, out);
}
#endif

}  // namespace

void resample_gather(size_t n, const float* row, const int32_t* index, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = row[index[i]];
}

void resample_repeat(size_t n, size_t times, const float* row, float* out) {
  switch (times) {
    case 1:
      return repeat<1>(n, row, out);
    case 2:
      return repeat<2>(n, row, out);
    case 3:
      return repeat<3>(n, row, out);
    case 4:
      return repeat<4>(n, row, out);
    default:
      return repeat_each(n, times, row, out);
  }
}

void resample_blend(size_t n, const float* a, const float* b, float share, float* out) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, blended(load(a + i), load(b + i), share));
  const size_t left = n - i;
  if (left == 0) return;
  store_partial(out + i, blended(load_partial(a + i, left), load_partial(b + i, left), share), left);
}

void resample_pixel(size_t n, const float* a, const float* b, const float* c, const float* d, float across,
                    float down, float* out) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 upper = blended(load(a + i), load(b + i), across);
    store(out + i, blended(upper, blended(load(c + i), load(d + i), across), down));
  }
  const size_t left = n - i;
  if (left == 0) return;
  const F32 upper = blended(load_partial(a + i, left), load_partial(b + i, left), across);
  const F32 lower = blended(load_partial(c + i, left), load_partial(d + i, left), across);
  store_partial(out + i, blended(upper, lower, down), left);
}

void resample_between(size_t n, const float* row, const int32_t* first, const int32_t* second,
                      const float* share, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = row[first[i]] * (1.0f - share[i]) + row[second[i]] * share[i];
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
