// SPDX-License-Identifier: BSD-3-Clause
// kernels/ukernel/resample.h.
#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/resample.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE F32 blended(F32 a, F32 b, float share) { return multiply_add(b, splat(share), a * (1.0f - share)); }

}  // namespace

void resample_gather(size_t n, const float* row, const int32_t* index, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = row[index[i]];
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
