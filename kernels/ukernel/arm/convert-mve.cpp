// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: quantizes four float32 with 11 instructions and dequantizes with 6. Helium flushes subnormals
// to zero; where that would change a result, with scales of extreme exponents, the plain loops run.
#include "kernels/ukernel/convert.h"

#define RL_OWN_INT8
#include "kernels/ukernel/generic/convert.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Between these, no factor and no nonzero result is subnormal: 2^-126 * 2^124 rounds to 0.
constexpr float kLeastFactor = 0x1p-100F;
constexpr float kMostFactor = 0x1p124F;

#define RL_LOOP(body) "wlstp.32 lr, %[count], 2f\n1:\n" body "letp lr, 1b\n2:\n"

}  // namespace

// Both comparisons are false for NaN, which then converts to 0.
void quantize_i8(size_t n, const float* __restrict x, const Quantization& how, int8_t* __restrict out) {
  // The negated condition also takes a NaN factor here.
  if (!(how.inverse_scale >= kLeastFactor && how.inverse_scale <= kMostFactor)) {
    return quantize(n, x, how, out);
  }
  asm volatile(
      "vdup.32 q2, %[low]\n"
      "vdup.32 q3, %[high]\n"  //
      RL_LOOP("vldrw.u32 q0, [%[x]], #16\n"
              "vmul.f32 q0, q0, %[scale]\n"
              "vrintn.f32 q0, q0\n"
              "vadd.f32 q0, q0, %[zero]\n"
              "vpt.f32 gt, q2, q0\n"
              "vmovt q0, q2\n"
              "vpt.f32 gt, q0, q3\n"
              "vmovt q0, q3\n"
              "vcvt.s32.f32 q0, q0\n"
              "vstrb.32 q0, [%[out]], #4\n")
      : [x] "+l"(x), [out] "+l"(out)
      : [count] "r"(n), [scale] "r"(how.inverse_scale), [zero] "r"(how.zero_point), [low] "r"(how.low),
        [high] "r"(how.high)
      : "q0", "q2", "q3", "lr", "cc", "memory");
}

void dequantize_i8(size_t n, const int8_t* __restrict x, float scale, float zero_point,
                   float* __restrict out) {
  if (!(scale >= kLeastFactor && scale <= kMostFactor)) return dequantize(n, x, scale, zero_point, out);
  const float less = -zero_point;
  asm volatile(RL_LOOP("vldrb.s32 q0, [%[x]], #4\n"
                       "vcvt.f32.s32 q0, q0\n"
                       "vadd.f32 q0, q0, %[less]\n"
                       "vmul.f32 q0, q0, %[scale]\n"
                       "vstrw.32 q0, [%[out]], #16\n")
               : [x] "+l"(x), [out] "+l"(out)
               : [count] "r"(n), [less] "r"(less), [scale] "r"(scale)
               : "q0", "lr", "cc", "memory");
}

#undef RL_LOOP

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
