// SPDX-License-Identifier: BSD-3-Clause
// Quantized numbers of blocks of sums with Helium, of up to 16 columns. A product's upper half, doubled, is
// shifted right and rounded; before that, shifts to the left saturate. A sum that saturates is far outside of
// int8 either way; see requantize.h.
// Functions are inline, not of each source: programs have them once.
#pragma once

#include <cstddef>
#include <cstdint>

#include <arm_mve.h>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

inline constexpr size_t kSumColumns = 16;
inline constexpr size_t kSumRows = 16;

// Rows of 16 sums, one after the other: bytes to each.
inline constexpr uint32_t kRowsOf16[kSumRows] = {0,       64,      2 * 64,  3 * 64, 4 * 64,  5 * 64,
                                                 6 * 64,  7 * 64,  8 * 64,  9 * 64, 10 * 64, 11 * 64,
                                                 12 * 64, 13 * 64, 14 * 64, 15 * 64};

// The sum of column j and row i is rows_at[i] bytes behind sums[j * column_step]. Of 16 columns all can be
// read.
struct Sums {
  const int32_t* sums;
  size_t column_step;
  const uint32_t* rows_at;
  size_t rows;
  int8_t* out;
  ptrdiff_t out_stride;
};

inline int32x4_t load_scales(const int32_t* from, uint32x4_t at, mve_pred16_t lanes) {
  return vldrwq_gather_shifted_offset_z_s32(from, at, lanes);
}

// By any rounding and scale; `bias_of` is at the first column, and `last` the last of those that repeat.
[[gnu::noinline]] inline void quantize_any(const Requantization& to, const int32_t* bias_of, size_t first,
                                           size_t columns, uint32_t last, const Sums& of) {
  const uint32x4_t ahead = vidupq_n_u32(0, 1);
  const uint32x4_t at_sums = vmulq_n_u32(ahead, static_cast<uint32_t>(of.column_step));
  const bool is_float = to.rounding == Rounding::kFloat, is_double = to.rounding == Rounding::kDouble;
  for (size_t j = 0; j < columns; j += 4) {
    const mve_pred16_t lanes = vctp32q(columns - j);
    const uint32x4_t distinct = vandq_u32(vaddq_n_u32(ahead, static_cast<uint32_t>(j)), vdupq_n_u32(last));
    const uint32x4_t at_scales = vmulq_n_u32(distinct, static_cast<uint32_t>(to.step));
    const ptrdiff_t scale = to.step * static_cast<ptrdiff_t>(first);
    const auto* scales = is_float ? reinterpret_cast<const int32_t*>(to.scales) : to.multipliers;
    const int32x4_t multipliers = load_scales(scales + scale, at_scales, lanes);
    int32x4_t left = vdupq_n_s32(0), right = left;
    if (!is_float) {
      const int32x4_t shifts = vldrbq_gather_offset_z_s32(to.shifts + scale, at_scales, lanes);
      // kSingle rounds in the last shift alone: there is one.
      left = vmaxq_s32(vaddq_n_s32(shifts, is_double ? 0 : 1), left);
      right = vsubq_s32(shifts, left);
    }
    const int32x4_t bias = bias_of == nullptr ? vdupq_n_s32(0) : load_scales(bias_of, distinct, lanes);
    const auto* sums = reinterpret_cast<const char*>(of.sums + j * of.column_step);
    int8_t* out = of.out + j;
    for (size_t i = 0; i < of.rows; ++i, out += of.out_stride) {
      const auto* row = reinterpret_cast<const int32_t*>(sums + of.rows_at[i]);
      int32x4_t value = vaddq_s32(vldrwq_gather_shifted_offset_s32(row, at_sums), bias);
      if (is_float) {
        value = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(value), vreinterpretq_f32_s32(multipliers)));
      } else {
        value = vqshlq_s32(value, left);
        if (is_double) {
          value = vqrdmulhq_s32(value, multipliers);
          // Halves away from zero: one less below zero, where there is a shift.
          value = vaddq_s32(value, vshrq_n_s32(vandq_s32(value, right), 31));
        } else {
          value = vqdmulhq_s32(value, multipliers);
        }
        value = vrshlq_s32(value, right);
      }
      value = vqaddq_n_s32(value, to.zero_point);
      value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(to.low)), vdupq_n_s32(to.high));
      vstrbq_p_s32(out, value, lanes);
    }
  }
}

// Assembler knows it by the offsets of members. Vector k of 16 columns has columns k, k + 4, k + 8 and k +
// 12: narrowed into even and odd lanes they come into their order. Constants are each vector's biases,
// multipliers and shifts, then the least and the most bytes.
struct PairWork {
  const uint32_t* rows_at;
  const int32_t* constants;
  const int32_t* sums;
  size_t column_bytes;
  int8_t* out;
  ptrdiff_t out_stride;
  int32_t zero_point;
  size_t pairs;  // of rows
  size_t columns;
};

#define RL_QUARTER(base, at, narrow, first, second) \
  "add r2, " base                                   \
  ", r3\n"                                          \
  "vldrw.u32 q4, [r2, q7]\n"                        \
  "add r12, " base                                  \
  ", r7\n"                                          \
  "vldrw.u32 q5, [r12, q7]\n"                       \
  "vldrw.u32 q6, [r1, #" at                         \
  "]\n"                                             \
  "vadd.i32 q4, q4, q6\n"                           \
  "vadd.i32 q5, q5, q6\n"                           \
  "vldrw.u32 q6, [r1, #" at                         \
  " + 16]\n"                                        \
  "vqdmulh.s32 q4, q4, q6\n"                        \
  "vqdmulh.s32 q5, q5, q6\n"                        \
  "vldrw.u32 q6, [r1, #" at                         \
  " + 32]\n"                                        \
  "vrshl.s32 q4, q4, q6\n"                          \
  "vrshl.s32 q5, q5, q6\n" narrow ".s32 " first ", q4\n" narrow ".s32 " second ", q5\n"

// kSingle with shifts below 0: 82 instructions for two rows of 16.
[[gnu::naked, gnu::noinline]] inline void quantize_pairs([[maybe_unused]] const PairWork& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r12, r0\n"
      "movs r6, #0\n"
      "vidup.u32 q7, r6, #4\n"
      "ldrd r0, r1, [r12]\n"
      "ldrd r8, r2, [r12, #8]\n"
      "vmul.i32 q7, q7, r2\n"
      "add r9, r8, r2\n"
      "add r10, r9, r2\n"
      "add r11, r10, r2\n"
      "ldrd r4, r5, [r12, #16]\n"
      "ldrd r6, r7, [r12, #24]\n"
      "ldr r3, [r12, #32]\n"
      "vctp.8 r3\n"
      "dls lr, r7\n"
      "1:\n"
      "ldrd r3, r7, [r0], #8\n"  //
      RL_QUARTER("r8", "0", "vqmovnb", "q0", "q2") RL_QUARTER("r9", "48", "vqmovnb", "q1", "q3")
          RL_QUARTER("r10", "96", "vqmovnt", "q0", "q2") RL_QUARTER("r11", "144", "vqmovnt", "q1", "q3")
      "vqadd.s16 q0, q0, r6\n"
      "vqadd.s16 q1, q1, r6\n"
      "vqadd.s16 q2, q2, r6\n"
      "vqadd.s16 q3, q3, r6\n"
      "vqmovnb.s16 q4, q0\n"
      "vqmovnt.s16 q4, q1\n"
      "vqmovnb.s16 q5, q2\n"
      "vqmovnt.s16 q5, q3\n"
      "vldrw.u32 q6, [r1, #192]\n"
      "vmax.s8 q4, q4, q6\n"
      "vmax.s8 q5, q5, q6\n"
      "vldrw.u32 q6, [r1, #208]\n"
      "vmin.s8 q4, q4, q6\n"
      "vmin.s8 q5, q5, q6\n"
      "vpst\n"
      "vstrbt.8 q4, [r4]\n"
      "add r4, r4, r5\n"
      "vpst\n"
      "vstrbt.8 q5, [r4]\n"
      "add r4, r4, r5\n"
      "le lr, 1b\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}
#undef RL_QUARTER

// Makes quantized numbers of some columns' sums, block after block; what belongs to columns is prepared once.
class Quantizer {
 public:
  // `bias` is of all columns; null: zeros. kSumColumns at most, from column `first` on; of a number less than
  // that, a power of two, one after the other again and again.
  Quantizer(const Requantization& to, const int32_t* bias, size_t first, size_t columns,
            size_t number = kSumColumns) {
    set_columns(to, bias, first, columns, number);
  }

  [[gnu::noinline]] void set_columns(const Requantization& to, const int32_t* bias, size_t first,
                                     size_t columns, size_t number) {
    last_ = static_cast<uint32_t>(number - 1);
    to_ = &to;
    bias_ = bias == nullptr ? nullptr : bias + first;
    first_ = first;
    columns_ = columns;
    is_small_ = to.rounding == Rounding::kSingle && prepare();
  }

  [[gnu::noinline]] void quantize(const Sums& of) const {
    if (!is_small_) return quantize_any(*to_, bias_, first_, columns_, last_, of);
    const size_t pairs = of.rows / 2;
    PairWork work{of.rows_at, constants_,    of.sums,         of.column_step * sizeof(int32_t),
                  of.out,     of.out_stride, to_->zero_point, pairs,
                  columns_};
    if (pairs > 0) quantize_pairs(work);
    if (of.rows % 2 == 0) return;
    // The last row as both of a pair.
    const uint32_t last[] = {of.rows_at[of.rows - 1], of.rows_at[of.rows - 1]};
    work.rows_at = last;
    work.out += static_cast<ptrdiff_t>(of.rows - 1) * of.out_stride;
    work.out_stride = 0;
    work.pairs = 1;
    quantize_pairs(work);
  }

 private:
  // The constants of quantize_pairs(); false if a column has a shift that is not below 0.
  bool prepare() {
    const ptrdiff_t scale = to_->step * static_cast<ptrdiff_t>(first_);
    int32_t most = kLeastShift;
    int32_t* constants = constants_;
    uint32x4_t columns = vidupq_n_u32(0, 4);
    for (size_t k = 0; k < 4; ++k, columns = vaddq_n_u32(columns, 1), constants += 12) {
      const mve_pred16_t lanes =
          vcmpltq_n_s32(vreinterpretq_s32_u32(columns), static_cast<int32_t>(columns_));
      const uint32x4_t distinct = vandq_u32(columns, vdupq_n_u32(last_));
      const uint32x4_t at = vmulq_n_u32(distinct, static_cast<uint32_t>(to_->step));
      const int32x4_t shifts = vldrbq_gather_offset_z_s32(to_->shifts + scale, at, lanes);
      most = vmaxvq_p_s32(most, shifts, lanes);
      const int32x4_t bias = bias_ == nullptr ? vdupq_n_s32(0) : load_scales(bias_, distinct, lanes);
      vstrwq_s32(constants, bias);
      vstrwq_s32(constants + 4, load_scales(to_->multipliers + scale, at, lanes));
      vstrwq_s32(constants + 8, shifts);
    }
    vstrbq_s8(reinterpret_cast<int8_t*>(constants), vdupq_n_s8(static_cast<int8_t>(to_->low)));
    vstrbq_s8(reinterpret_cast<int8_t*>(constants + 4), vdupq_n_s8(static_cast<int8_t>(to_->high)));
    return most < 0;
  }

  const Requantization* to_;
  const int32_t* bias_;
  size_t first_;
  size_t columns_;
  uint32_t last_;
  bool is_small_;
  int32_t constants_[4 * 12 + 8];
};

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
