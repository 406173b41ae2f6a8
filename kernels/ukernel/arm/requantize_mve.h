// SPDX-License-Identifier: BSD-3-Clause
// Quantized numbers of four sums at a time with Helium. Shifts take one form where their columns begin: a
// saturating one to the left, then a product's upper half, doubled, then a rounding one to the right. A sum
// that saturates is far outside of int8 either way; see requantize.h.
// Functions are inline, not of each source: programs have them once.
#pragma once

#include <cstddef>
#include <cstdint>

#include <arm_mve.h>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Sums of some columns and rows, whose number of column j and row i is sums[j * column_step + i * row_step].
struct Sums {
  const int32_t* sums;
  size_t column_step;
  size_t row_step;
  size_t columns;
  size_t rows;
  size_t first;         // column
  const int32_t* bias;  // of all columns; null: zeros
  int8_t* out;
  ptrdiff_t out_stride;
};

template <Rounding kRounding>
inline void quantize_as(const Requantization& to, const Sums& of) {
  const uint32x4_t ahead = vidupq_n_u32(0, 1);
  const uint32x4_t at_sums = vmulq_n_u32(ahead, static_cast<uint32_t>(of.column_step));
  const uint32x4_t at_scales = vmulq_n_u32(ahead, static_cast<uint32_t>(to.step));
  const int32_t low = to.low, high = to.high, zero_point = to.zero_point;
  const ptrdiff_t out_stride = of.out_stride;
  const size_t row_step = of.row_step;
  for (size_t j = 0; j < of.columns; j += 4) {
    const mve_pred16_t lanes = vctp32q(of.columns - j);
    const size_t column = of.first + j;
    const ptrdiff_t scale = to.step * static_cast<ptrdiff_t>(column);
    int32x4_t multipliers, left, right;
    if constexpr (kRounding == Rounding::kFloat) {
      const auto* scales = reinterpret_cast<const int32_t*>(to.scales);
      multipliers = vldrwq_gather_shifted_offset_z_s32(scales + scale, at_scales, lanes);
    } else {
      multipliers = vldrwq_gather_shifted_offset_z_s32(to.multipliers + scale, at_scales, lanes);
      const int32x4_t shifts = vldrbq_gather_offset_z_s32(to.shifts + scale, at_scales, lanes);
      left = vmaxq_s32(shifts, vdupq_n_s32(0));
      right = vsubq_s32(shifts, left);
    }
    const int32x4_t bias = of.bias == nullptr ? vdupq_n_s32(0) : vldrwq_z_s32(of.bias + column, lanes);
    const int32_t* sums = of.sums + j * of.column_step;
    int8_t* out = of.out + j;
    for (size_t i = of.rows; i > 0; --i, sums += row_step, out += out_stride) {
      int32x4_t value = vaddq_s32(vldrwq_gather_shifted_offset_s32(sums, at_sums), bias);
      if constexpr (kRounding == Rounding::kFloat) {
        value = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(value), vreinterpretq_f32_s32(multipliers)));
      } else {
        value = vqrdmulhq_s32(vqshlq_s32(value, left), multipliers);
        // Halves away from zero: one less below zero, where there is a shift.
        value = vaddq_s32(value, vshrq_n_s32(vandq_s32(value, right), 31));
        value = vrshlq_s32(value, right);
      }
      value = vqaddq_n_s32(value, zero_point);
      value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(low)), vdupq_n_s32(high));
      vstrbq_p_s32(out, value, lanes);
    }
  }
}

// What assembler knows, by the offsets of members. Steps are in bytes.
struct SingleWork {
  const int32_t* multipliers;
  const int8_t* shifts;
  const int32_t* bias;
  const int32_t* sums;
  int8_t* out;
  ptrdiff_t columns;
  size_t rows;
  ptrdiff_t row_step;
  ptrdiff_t out_stride;
  int32_t zero_point;
  ptrdiff_t scale_step;  // elements; what one for all columns has is in arrays of four
  ptrdiff_t bias_step;
  ptrdiff_t sums_step;
  int32_t low;
  int32_t high;
  uint32_t column_step;
};

// kSingle rounds in the last shift alone: there is one. All vectors are taken, which compilers would load in
// each row: left, multipliers, right, bias, places of sums, low, high, four numbers.
[[gnu::naked, gnu::noinline]] inline void quantize_single([[maybe_unused]] const SingleWork& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r12, r0\n"
      "ldrd r1, r2, [r12, #52]\n"
      "vdup.32 q5, r1\n"
      "vdup.32 q6, r2\n"
      "ldr r1, [r12, #60]\n"
      "movs r2, #0\n"
      "vidup.u32 q4, r2, #1\n"
      "vmul.i32 q4, q4, r1\n"
      "ldmia r12, {r0-r5}\n"
      "ldrd r7, r8, [r12, #28]\n"
      "ldr r9, [r12, #36]\n"
      "mov r11, #1\n"
      "1:\n"
      "vctp.32 r5\n"
      "vpsttt\n"
      "vldrwt.u32 q1, [r0]\n"
      "vldrbt.s32 q2, [r1]\n"
      "vldrwt.u32 q3, [r2]\n"
      "vadd.i32 q0, q2, r11\n"
      "vmov.i32 q7, #0\n"
      "vmax.s32 q0, q0, q7\n"
      "vsub.i32 q2, q2, q0\n"
      "mov r10, r3\n"
      "mov r6, r4\n"
      "ldr lr, [r12, #24]\n"
      "wls lr, lr, 3f\n"
      "2:\n"
      "vldrw.u32 q7, [r10, q4, uxtw #2]\n"
      "add r10, r10, r7\n"
      "vadd.i32 q7, q7, q3\n"
      "vqshl.s32 q7, q7, q0\n"
      "vqdmulh.s32 q7, q7, q1\n"
      "vrshl.s32 q7, q7, q2\n"
      "vadd.i32 q7, q7, r9\n"
      "vmax.s32 q7, q7, q5\n"
      "vmin.s32 q7, q7, q6\n"
      "vpst\n"
      "vstrbt.32 q7, [r6]\n"
      "add r6, r6, r8\n"
      "le lr, 2b\n"
      "3:\n"
      "ldrd r10, r6, [r12, #40]\n"
      "add r1, r1, r10\n"
      "add r0, r0, r10, lsl #2\n"
      "add r2, r2, r6\n"
      "ldr r10, [r12, #48]\n"
      "add r3, r3, r10\n"
      "adds r4, r4, #4\n"
      "subs r5, r5, #4\n"
      "bgt 1b\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

[[gnu::noinline]] inline void quantize(const Requantization& to, const Sums& of) {
  if (to.rounding == Rounding::kFloat) return quantize_as<Rounding::kFloat>(to, of);
  if (to.rounding == Rounding::kDouble) return quantize_as<Rounding::kDouble>(to, of);
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(int32_t));
  int32_t multipliers[4], zeros[4];
  int8_t shifts[4];
  SingleWork work{to.multipliers + of.first,
                  to.shifts + of.first,
                  of.bias + of.first,
                  of.sums,
                  of.out,
                  static_cast<ptrdiff_t>(of.columns),
                  of.rows,
                  static_cast<ptrdiff_t>(of.row_step) * kBytes,
                  of.out_stride,
                  to.zero_point,
                  4,
                  4 * kBytes,
                  static_cast<ptrdiff_t>(of.column_step) * 4 * kBytes,
                  to.low,
                  to.high,
                  static_cast<uint32_t>(of.column_step)};
  if (to.step == 0) {
    vstrwq_s32(multipliers, vdupq_n_s32(*to.multipliers));
    vstrbq_s32(shifts, vdupq_n_s32(*to.shifts));
    work.multipliers = multipliers;
    work.shifts = shifts;
    work.scale_step = 0;
  }
  if (of.bias == nullptr) {
    vstrwq_s32(zeros, vdupq_n_s32(0));
    work.bias = zeros;
    work.bias_step = 0;
  }
  quantize_single(work);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
