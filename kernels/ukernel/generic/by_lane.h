// SPDX-License-Identifier: BSD-3-Clause
// Products of a vector with one lane of another one.
#pragma once

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Loads in front of a call stay there. Adjacent loads become pairs, which GCC finds only if no other
// instruction is between them.
RL_INLINE void keep_loads_together() { asm volatile("" ::: "memory"); }

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#if defined(__aarch64__)
#include "kernels/ukernel/arm64/by_lane.h"
#else

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// sum + vector * factors[kLane]
template <size_t kLane, class Vector>
RL_INLINE Vector multiply_add_lane(Vector factors, Vector vector, Vector sum) {
#if RL_VECTOR_BYTES > 4
  return multiply_add(splat(factors[kLane]), vector, sum);
#else
  return multiply_add(factors, vector, sum);
#endif
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
#endif
