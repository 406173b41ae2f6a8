// SPDX-License-Identifier: BSD-3-Clause
// The greater, or smaller, of two numbers, or NaN if one is. The result may be either of two zeros.
#pragma once

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#if defined(__aarch64__)
// The clamps of arm64 propagate NaN of both operands.
RL_INLINE F32 larger(F32 best, F32 value) { return at_least(best, value); }
RL_INLINE F32 smaller(F32 best, F32 value) { return at_most(best, value); }
#elif defined(__SSE2__)
// MAXPS and MINPS return their second operand if one is NaN, so the two orders differ in that case and for
// zeros only, and the bits of both together are NaN again, or -0.
RL_INLINE F32 larger(F32 best, F32 value) {
  const F32 first = select(best < value, value, best);
  const F32 second = select(value < best, best, value);
  return from_bits(bits(first) | bits(second));
}
RL_INLINE F32 smaller(F32 best, F32 value) {
  const F32 first = select(best > value, value, best);
  const F32 second = select(value > best, best, value);
  return from_bits(bits(first) | bits(second));
}
#else
RL_INLINE F32 larger(F32 best, F32 value) {
  best = select(value > best, value, best);
  return select(value != value, value, best);
}
RL_INLINE F32 smaller(F32 best, F32 value) {
  best = select(value < best, value, best);
  return select(value != value, value, best);
}
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
