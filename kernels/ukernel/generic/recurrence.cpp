// SPDX-License-Identifier: BSD-3-Clause
// Gates need no results below 1e-37, so that sigmoid
// and tanh have shorter forms here than in generic/vector_math.h: a clamp, one exponential and one quotient,
// without selections.
#include "kernels/ukernel/recurrence.h"

#include "kernels/ukernel/generic/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// above / (1 + e^-x). The clamp keeps the exponential and its factor 2^n normal.
RL_INLINE F32 gate_of(F32 x, F32 above) {
  return above / (1.0f + exp_within(at_least(at_most(-x, 87.0f), -87.0f)));
}
RL_INLINE F32 gate_of(F32 x) { return gate_of(x, splat(1.0f)); }

// tanh_of(x) = e / (e + 2) with e = e^(2x) - 1 = 2^n (e^r - 1) + (2^n - 1), which loses no digits near 0.
// From 10 on the quotient no longer changes.
RL_INLINE F32 tanh_of(F32 x) {
  constexpr float kShift = kRounder + 127;
  const F32 twice = 2.0f * at_least(at_most(x, 10.0f), -10.0f);
  const F32 shifted = twice * kLog2E + kShift;
  const F32 n = shifted - kShift;
  const F32 r = (twice - n * kLn2High) - n * kLn2Low;
  const F32 power = from_bits(shifted_left(bits(shifted), 23));
  const F32 e = power * ((r * r) * exp_tail(r) + r) + (power - 1.0f);
  return e / (e + 2.0f);
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/recurrence.inl"
