// SPDX-License-Identifier: BSD-3-Clause
// Attention for one query over vectors of the compiler. Exponentials use a polynomial of half the cost of
// vector_math.h's, since softmax weights need no more than 3e-7.
#include "kernels/ukernel/attention.h"

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/generic/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// e^x for x <= 0, with a relative error below 3e-7 and e^0 = 1. x cannot overflow, so that the exponent needs
// one factor. At kLowest that factor has the bits of 0, so that the clamp makes smaller results 0 without a
// selection. The coefficients are the minimax polynomial of (e^r - 1 - r) / r^2.
RL_INLINE F32 exp_of_negative(F32 x) {
  constexpr float kLowest = -88.0f;
  constexpr float kExponent = kRounder + 127;
  constexpr float kLn2 = 0x1.62e430p-1f;
  x = at_least(x, kLowest);
  const F32 shifted = x * kLog2E + kExponent;
  const F32 r = x - (shifted - kExponent) * kLn2;
  const F32 power = polynomial(r, 1.0f, 1.0f, 0x1.fffdfcp-2f, 0x1.5557aep-3f, 0x1.572a06p-5f, 0x1.10627ap-7f);
  return power * from_bits(shifted_left(bits(shifted), 23));
}

#if RL_VECTOR_BYTES > 4
// Keeps the first `left` lanes; the others become -inf.
RL_INLINE F32 until(F32 value, size_t left) {
  constexpr int32_t kNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  I32 number;
  std::memcpy(&number, kNumbers, sizeof(number));
  return select(number < static_cast<int32_t>(left), value, splat(-kInfinity));
}
#else
RL_INLINE F32 until(F32 value, size_t) { return value; }
#endif

// The larger value; `b` if one is NaN.
RL_INLINE F32 larger(F32 a, F32 b) { return at_least(b, a); }

// Stores x = scores * scale + mask over the scores; returns the largest of these and `largest`.
template <bool kMasked>
RL_INLINE float scale_and_mask(size_t n, float* scores, float scale, const float* mask, float largest) {
  F32 most[2] = {splat(largest), splat(largest)};
  const auto scaled = [&](F32 x, F32 added) {
    return kMasked ? multiply_add(x, splat(scale), added) : x * scale;
  };
  size_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    RL_UNROLL for (size_t k = 0; k < 2; ++k) {
      const size_t at = j + k * kLanes;
      const F32 x = scaled(load(scores + at), kMasked ? load(mask + at) : F32{});
      store(scores + at, x);
      most[k] = larger(x, most[k]);
    }
  }
  for (; j < n; j += kLanes) {
    const size_t left = n - j < kLanes ? n - j : kLanes;
    const F32 x = scaled(load_partial(scores + j, left), kMasked ? load_partial(mask + j, left) : F32{});
    store_partial(scores + j, x, left);
    most[0] = larger(until(x, left), most[0]);
  }
  return reduce(larger(most[1], most[0]), [](F32 a, F32 b) { return larger(a, b); });
}

}  // namespace

float attention_weights(size_t n, float* scores, float scale, const float* mask, float* shift, float* sum) {
  const float before = *shift;
  const float largest = mask == nullptr ? scale_and_mask<false>(n, scores, scale, mask, before)
                                        : scale_and_mask<true>(n, scores, scale, mask, before);
  const float subtracted = largest == -kInfinity ? 0.0f : largest;
  F32 sums[2] = {splat(0.0f), splat(0.0f)};
  size_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    RL_UNROLL for (size_t k = 0; k < 2; ++k) {
      float* const at = scores + j + k * kLanes;
      const F32 weight = exp_of_negative(load(at) - subtracted);
      store(at, weight);
      sums[k] += weight;
    }
  }
  for (; j < n; j += kLanes) {
    const size_t left = n - j < kLanes ? n - j : kLanes;
    // Missing lanes are -inf, so that their weights are 0.
    const F32 weight = exp_of_negative(until(load_partial(scores + j, left), left) - subtracted);
    store_partial(scores + j, weight, left);
    sums[0] += weight;
  }
  // Before the first block there is nothing to rescale, and -inf - (-inf) would be NaN.
  const float factor = before == -kInfinity ? 1.0f : lane(exp_of_negative(splat(before - subtracted)), 0);
  *shift = largest;
  *sum = *sum * factor + sum_of_lanes(sums[0] + sums[1]);
  return factor;
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/attention_rows.inl"
