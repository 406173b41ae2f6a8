// SPDX-License-Identifier: BSD-3-Clause
// Products of pairs of bfloat16: a lane of 32 bits holds two, the first in the low half.
#pragma once

#include "kernels/ukernel/generic/vector.h"
#if defined(__AVX512BF16__)
#include "kernels/ukernel/x86/bf16_pairs.h"
#else

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// sum + a[0] * b[0] + a[1] * b[1] in each lane. The upper half of a lane is a float32 as it is, the lower one
// after a shift.
RL_INLINE F32 add_pair_products(F32 sum, I32 a, I32 b) {
  const F32 first = multiply_add(from_bits(a << 16), from_bits(b << 16), sum);
  const I32 upper = splat(static_cast<int32_t>(0xffff0000U));
  return multiply_add(from_bits(a & upper), from_bits(b & upper), first);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
#endif
