// SPDX-License-Identifier: BSD-3-Clause
// Conversions of float16 by the floating-point unit of cores without vectors (VCVTB), an instruction each.
// They make NaN quiet.
#pragma once

#include "kernels/ukernel/generic/half.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE float widened(uint16_t half) {
  float value;
  asm("vmov %0, %1\n vcvtb.f32.f16 %0, %0" : "=t"(value) : "r"(half));
  return value;
}

RL_INLINE uint16_t narrowed(float value) {
  uint32_t half;
  asm("vcvtb.f16.f32 %1, %1\n vmov %0, %1" : "=r"(half), "+t"(value));
  return static_cast<uint16_t>(half);
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
