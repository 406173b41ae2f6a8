// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length: quantizes and dequantizes int8 in vectors of eight registers. Product
// and zero point are separate instructions, so that nothing is fused; conversions round halves to even.
#include <riscv_vector.h>

#include "kernels/ukernel/convert.h"

#define RL_OWN_INT8
#include "kernels/ukernel/generic/convert.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Infinities and large values are integers already; where the conversion saturates, the clamp follows.
inline vfloat32m8_t rounded(vfloat32m8_t values, size_t lanes) {
  const vbool4_t small = __riscv_vmflt_vf_f32m8_b4(__riscv_vfabs_v_f32m8(values, lanes), 0x1p23F, lanes);
  const vint32m8_t whole = __riscv_vfcvt_x_f_v_i32m8_rm(values, __RISCV_FRM_RNE, lanes);
  return __riscv_vfcvt_f_x_v_f32m8_mu(small, values, whole, lanes);
}

}  // namespace

// NaN is lost in the minimum and maximum; the mask of `is_number` turns it to 0.
void quantize_i8(size_t n, const float* __restrict x, const Quantization& how, int8_t* __restrict out) {
  const float scale = how.inverse_scale, zero_point = how.zero_point, low = how.low, high = how.high;
  for (size_t lanes; n > 0; n -= lanes, x += lanes, out += lanes) {
    lanes = __riscv_vsetvl_e32m8(n);
    vfloat32m8_t values = __riscv_vfmul_vf_f32m8(__riscv_vle32_v_f32m8(x, lanes), scale, lanes);
    values = __riscv_vfadd_vf_f32m8(rounded(values, lanes), zero_point, lanes);
    const vbool4_t is_number = __riscv_vmfeq_vv_f32m8_b4(values, values, lanes);
    values = __riscv_vfmin_vf_f32m8(__riscv_vfmax_vf_f32m8(values, low, lanes), high, lanes);
    const vint16m4_t zeros = __riscv_vmv_v_x_i16m4(0, lanes);
    const vint16m4_t numbers = __riscv_vfncvt_x_f_w_i16m4_mu(is_number, zeros, values, lanes);
    __riscv_vse8_v_i8m2(out, __riscv_vncvt_x_x_w_i8m2(numbers, lanes), lanes);
  }
}

// int8 to int16 to float32, in widening steps; the difference is exact.
void dequantize_i8(size_t n, const int8_t* __restrict x, float scale, float zero_point,
                   float* __restrict out) {
  for (size_t lanes; n > 0; n -= lanes, x += lanes, out += lanes) {
    lanes = __riscv_vsetvl_e32m8(n);
    const vint16m4_t numbers = __riscv_vsext_vf2_i16m4(__riscv_vle8_v_i8m2(x, lanes), lanes);
    const vfloat32m8_t values = __riscv_vfwcvt_f_x_v_f32m8(numbers, lanes);
    const vfloat32m8_t less = __riscv_vfsub_vf_f32m8(values, zero_point, lanes);
    __riscv_vse32_v_f32m8(out, __riscv_vfmul_vf_f32m8(less, scale, lanes), lanes);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
