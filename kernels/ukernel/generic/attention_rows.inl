// SPDX-License-Identifier: BSD-3-Clause
// Scores and scaling of attention.h, over vectors of the compiler. Sources that define attention_weights()
// include this.
#include "kernels/ukernel/attention.h"
#include "kernels/ukernel/generic/lane_sums.h"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Products of a query with kKeys keys, one vector of partial sums each.
template <size_t kKeys>
RL_INLINE void multiply(size_t depth, const float* query, const float* keys, ptrdiff_t stride, F32* sums) {
  RL_UNROLL for (size_t k = 0; k < kKeys; ++k) sums[k] = splat(0.0f);
  size_t p = 0;
  for (; p + kLanes <= depth; p += kLanes) {
    const F32 q = load(query + p);
    RL_UNROLL for (size_t k = 0; k < kKeys; ++k) {
      sums[k] = multiply_add(q, load(keys + static_cast<ptrdiff_t>(k) * stride + p), sums[k]);
    }
  }
  if (p == depth) return;
  const F32 q = load_partial(query + p, depth - p);
  RL_UNROLL for (size_t k = 0; k < kKeys; ++k) {
    const F32 key = load_partial(keys + static_cast<ptrdiff_t>(k) * stride + p, depth - p);
    sums[k] = multiply_add(q, key, sums[k]);
  }
}

}  // namespace

// Four keys share the loads of the query.
void attention_scores(size_t n, size_t depth, const float* query, const float* keys, ptrdiff_t stride,
                      float* scores) {
  F32 sums[4];
  size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    multiply<4>(depth, query, keys + static_cast<ptrdiff_t>(j) * stride, stride, sums);
    store_lane_sums(scores + j, sums[0], sums[1], sums[2], sums[3]);
  }
  for (; j < n; ++j) {
    multiply<1>(depth, query, keys + static_cast<ptrdiff_t>(j) * stride, stride, sums);
    scores[j] = lane_sum(sums[0]);
  }
}

void attention_scale(size_t n, float* row, float factor) {
  size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    RL_UNROLL for (size_t k = 0; k < 4; ++k) store(row + i + k * kLanes, load(row + i + k * kLanes) * factor);
  }
  for (; i + kLanes <= n; i += kLanes) store(row + i, load(row + i) * factor);
  if (i < n) store_partial(row + i, load_partial(row + i, n - i) * factor, n - i);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
