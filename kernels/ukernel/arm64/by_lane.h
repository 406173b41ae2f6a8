// SPDX-License-Identifier: BSD-3-Clause
// FMLA by element, which costs what FMLA of vectors does. GCC copies a lane into a vector first if several
// products use it. A part of generic/by_lane.h.
#pragma once

#include <arm_neon.h>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

template <size_t kLane>
RL_INLINE F32 multiply_add_lane(F32 factors, F32 vector, F32 sum) {
  return reinterpret_cast<F32>(vfmaq_laneq_f32(reinterpret_cast<float32x4_t>(sum),
                                               reinterpret_cast<float32x4_t>(vector),
                                               reinterpret_cast<float32x4_t>(factors), kLane));
}
template <size_t kLane>
RL_INLINE F64 multiply_add_lane(F64 factors, F64 vector, F64 sum) {
  return reinterpret_cast<F64>(vfmaq_laneq_f64(reinterpret_cast<float64x2_t>(sum),
                                               reinterpret_cast<float64x2_t>(vector),
                                               reinterpret_cast<float64x2_t>(factors), kLane));
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
