// SPDX-License-Identifier: BSD-3-Clause
// Requantizes blocks of sums of up to 16 columns with Helium, as requantize.h defines. The doubled upper half
// of a product is shifted right with rounding; left shifts come first and saturate. A sum that saturates is
// far outside of int8 either way, see requantize.h. Functions are inline so that a program has each once, not
// one for each source.
//
//   kSingle    VQDMULH = floor(sum * multiplier / 2^31), then VRSHL by -shift rounds halves up
//   kDouble    VQRDMULH rounds the doubled product, VRSHL rounds again; negative values less 1 first
//   kFloat     VCVT, VMUL, VCVTN: to nearest, halves to even
//
// A source sums into memory, 16 columns by up to 16 rows, and hands the block to a Quantizer, which prepared
// the constants of these columns. kSingle with negative shifts and kFloat process two rows at a time in
// assembler, which share the loads of the constants; other scales take the intrinsics of quantize_any().
#pragma once

#include <cstddef>
#include <cstdint>

#include <arm_mve.h>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// A block of kSumRows x kSumColumns sums takes 1 kB of stack.
inline constexpr size_t kSumColumns = 16;
inline constexpr size_t kSumRows = 16;

// Byte offsets of rows of 16 contiguous sums, for Sums::rows_at.
inline constexpr uint32_t kRowsOf16[kSumRows] = {0,       64,      2 * 64,  3 * 64, 4 * 64,  5 * 64,
                                                 6 * 64,  7 * 64,  8 * 64,  9 * 64, 10 * 64, 11 * 64,
                                                 12 * 64, 13 * 64, 14 * 64, 15 * 64};

// A block of sums, of which the Quantizer stores [rows][columns] results. The sum of column j and row i is at
// sums[j * column_step], rows_at[i] bytes on, so that tiles may store columns together or rows together. All
// 16 columns must be readable, also if fewer are selected: their sums may have any value and are not stored.
struct Sums {
  const int32_t* sums;
  size_t column_step;
  const uint32_t* rows_at;
  size_t rows;
  int8_t* out;
  ptrdiff_t out_stride;
};

// Loads from[at] for the active lanes, and 0 for the others.
inline int32x4_t load_scales(const int32_t* from, uint32x4_t at, mve_pred16_t lanes) {
  return vldrwq_gather_shifted_offset_z_s32(from, at, lanes);
}

// kSingle and kDouble with any scale, four columns of a row at a time. `bias_of` points to the bias of the
// first column, or is null; `last` is the mask of repeated columns: column j uses element j & last of the
// arrays.
[[gnu::noinline]] inline void quantize_any(const Requantization& to, const int32_t* bias_of, size_t first,
                                           size_t columns, uint32_t last, const Sums& of) {
  // Offsets of four adjacent columns, in elements: gathers scale them by 4.
  const uint32x4_t ahead = vidupq_n_u32(0, 1);
  const uint32x4_t at_sums = vmulq_n_u32(ahead, static_cast<uint32_t>(of.column_step));
  const bool is_double = to.rounding == Rounding::kDouble;
  for (size_t j = 0; j < columns; j += 4) {
    const mve_pred16_t lanes = vctp32q(columns - j);
    // All arrays of the columns are read by index & last, so that a repeated channel needs no copies.
    const uint32x4_t distinct = vandq_u32(vaddq_n_u32(ahead, static_cast<uint32_t>(j)), vdupq_n_u32(last));
    const uint32x4_t at_scales = vmulq_n_u32(distinct, static_cast<uint32_t>(to.step));
    const ptrdiff_t scale = to.step * static_cast<ptrdiff_t>(first);
    const int32x4_t multipliers = load_scales(to.multipliers + scale, at_scales, lanes);
    const int32x4_t shifts = vldrbq_gather_offset_z_s32(to.shifts + scale, at_scales, lanes);
    // kSingle rounds only in the last shift, which must be at least one: the left shift takes shift + 1 then.
    const int32x4_t left = vmaxq_s32(vaddq_n_s32(shifts, is_double ? 0 : 1), vdupq_n_s32(0));
    const int32x4_t right = vsubq_s32(shifts, left);
    const int32x4_t bias = bias_of == nullptr ? vdupq_n_s32(0) : load_scales(bias_of, distinct, lanes);
    const auto* sums = reinterpret_cast<const char*>(of.sums + j * of.column_step);
    int8_t* out = of.out + j;
    for (size_t i = 0; i < of.rows; ++i, out += of.out_stride) {
      const auto* row = reinterpret_cast<const int32_t*>(sums + of.rows_at[i]);
      int32x4_t value = vaddq_s32(vldrwq_gather_shifted_offset_s32(row, at_sums), bias);
      value = vqshlq_s32(value, left);
      if (is_double) {
        value = vqrdmulhq_s32(value, multipliers);
        // Halves away from zero: subtracts one from negative values if they are shifted.
        value = vaddq_s32(value, vshrq_n_s32(vandq_s32(value, right), 31));
      } else {
        value = vqdmulhq_s32(value, multipliers);
      }
      value = vrshlq_s32(value, right);
      // Saturates, so that a value near the ends of int32 cannot wrap.
      value = vqaddq_n_s32(value, to.zero_point);
      value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(to.low)), vdupq_n_s32(to.high));
      vstrbq_p_s32(out, value, lanes);
    }
  }
}

// Assembler reads the members by their offsets, 4 bytes each. Vector k of 16 columns has columns k, k + 4, k
// + 8 and k + 12, which one gather with the offsets 0, 4, 8 and 12 columns loads; narrowing vectors 0 and 2
// into the even and odd lanes of one register, and 1 and 3 into another, restores the order of the columns:
//
//   s32  v0 = 0 4 8 12    v2 = 2 6 10 14    v1 = 1 5 9 13    v3 = 3 7 11 15
//   s16  v0, v2 = 0 2 4 6 8 10 12 14        v1, v3 = 1 3 5 7 9 11 13 15
//   s8   both = 0 1 2 3 ... 15
//
// `constants` are, for each vector k, four biases, four multipliers (or scales) and four shifts, 48 bytes,
// then the lower and the upper bounds, 16 bytes each. The stores are masked to `columns`.
struct PairWork {
  const uint32_t* rows_at;
  const int32_t* constants;
  const int32_t* sums;
  size_t column_bytes;
  int8_t* out;
  ptrdiff_t out_stride;
  int32_t zero_point;
  size_t pairs;  // pairs of rows
  size_t columns;
};

// Sums of the next four columns of two rows, at r3 and r7, whose gathers have the byte offsets in q7. Adds
// the biases; `scale` rescales the sums in q4 and q5; `narrow` moves them to halves of the lanes of `first`
// and `second`. `at` is the offset of the vector's constants.
//
//   r0 rows_at     r1 constants   r2 column_bytes   r3, r7 both rows   r4 out       r5 out_stride
//   r6 zero_point  r8 sums        r12 work          lr pairs left      q6 constants
#define RL_QUARTER(scale, at, narrow, first, second) \
  "vldrw.u32 q4, [r3, q7]\n"                         \
  "vldrw.u32 q5, [r7, q7]\n"                         \
  "vldrw.u32 q6, [r1, #" at                          \
  "]\n"                                              \
  "vadd.i32 q4, q4, q6\n"                            \
  "vadd.i32 q5, q5, q6\n" scale(at) narrow ".s32 " first ", q4\n" narrow ".s32 " second ", q5\n"

// Advances both rows to the next column: the gathers then load columns 1, 5, 9 and 13, and so on.
#define RL_NEXT_QUARTER \
  "adds r3, r3, r2\n"   \
  "adds r7, r7, r2\n"

#define RL_QUARTERS(scale)                       \
  RL_QUARTER(scale, "0", "vqmovnb", "q0", "q2")  \
  RL_NEXT_QUARTER                                \
  RL_QUARTER(scale, "48", "vqmovnb", "q1", "q3") \
  RL_NEXT_QUARTER                                \
  RL_QUARTER(scale, "96", "vqmovnt", "q0", "q2") \
  RL_NEXT_QUARTER                                \
  RL_QUARTER(scale, "144", "vqmovnt", "q1", "q3")

// kSingle: product, then a right shift by the (negative) shift of each lane.
#define RL_SINGLE(at)        \
  "vldrw.u32 q6, [r1, #" at  \
  " + 16]\n"                 \
  "vqdmulh.s32 q4, q4, q6\n" \
  "vqdmulh.s32 q5, q5, q6\n" \
  "vldrw.u32 q6, [r1, #" at  \
  " + 32]\n"                 \
  "vrshl.s32 q4, q4, q6\n"   \
  "vrshl.s32 q5, q5, q6\n"

// kFloat: the scales are in the slots of the multipliers.
#define RL_FLOAT(at)        \
  "vldrw.u32 q6, [r1, #" at \
  " + 16]\n"                \
  "vcvt.f32.s32 q4, q4\n"   \
  "vcvt.f32.s32 q5, q5\n"   \
  "vmul.f32 q4, q4, q6\n"   \
  "vmul.f32 q5, q5, q6\n"   \
  "vcvtn.s32.f32 q4, q4\n"  \
  "vcvtn.s32.f32 q5, q5\n"

#define RL_QUANTIZE_PAIRS(scale) \
  asm volatile(                    \
      "push {r4-r8, lr}\n"         \
      "vpush {d8-d15}\n"           \
      "mov r12, r0\n"              \
      "movs r6, #0\n"              \
      "vidup.u32 q7, r6, #4\n"     \
      "ldrd r0, r1, [r12]\n"       \
      "ldrd r8, r2, [r12, #8]\n"   \
      "vmul.i32 q7, q7, r2\n"      \
      "ldrd r4, r5, [r12, #16]\n"  \
      "ldrd r6, r7, [r12, #24]\n"  \
      "ldr r3, [r12, #32]\n"       \
      "vctp.8 r3\n"                \
      "dls lr, r7\n"               \
      "1:\n"                       \
      "ldrd r3, r7, [r0], #8\n"    \
      "add r3, r3, r8\n"           \
      "add r7, r7, r8\n"           \
      RL_QUARTERS(scale)           \
      "vqadd.s16 q0, q0, r6\n"     \
      "vqadd.s16 q1, q1, r6\n"     \
      "vqadd.s16 q2, q2, r6\n"     \
      "vqadd.s16 q3, q3, r6\n"     \
      "vqmovnb.s16 q4, q0\n"       \
      "vqmovnt.s16 q4, q1\n"       \
      "vqmovnb.s16 q5, q2\n"       \
      "vqmovnt.s16 q5, q3\n"       \
      "vldrw.u32 q6, [r1, #192]\n" \
      "vmax.s8 q4, q4, q6\n"       \
      "vmax.s8 q5, q5, q6\n"       \
      "vldrw.u32 q6, [r1, #208]\n" \
      "vmin.s8 q4, q4, q6\n"       \
      "vmin.s8 q5, q5, q6\n"       \
      "vpst\n"                     \
      "vstrbt.8 q4, [r4]\n"        \
      "add r4, r4, r5\n"           \
      "vpst\n"                     \
      "vstrbt.8 q5, [r4]\n"        \
      "add r4, r4, r5\n"           \
      "le lr, 1b\n"                \
      "vpop {d8-d15}\n"            \
      "pop {r4-r8, pc}\n")

// kSingle with negative shifts: 82 instructions for two rows of 16 sums. Requires work.pairs > 0.
[[gnu::naked, gnu::noinline]] inline void quantize_pairs([[maybe_unused]] const PairWork& work) {
  RL_QUANTIZE_PAIRS(RL_SINGLE);
}
// kFloat: 86 instructions. Conversions saturate; subnormal products, which are flushed to zero, would round
// to it.
[[gnu::naked, gnu::noinline]] inline void quantize_float_pairs([[maybe_unused]] const PairWork& work) {
  RL_QUANTIZE_PAIRS(RL_FLOAT);
}
#undef RL_QUANTIZE_PAIRS
#undef RL_QUARTER
#undef RL_NEXT_QUARTER
#undef RL_SINGLE
#undef RL_FLOAT

// Prepares the constants of quantize_pairs() for up to 16 columns, in the layout of PairWork; lanes without a
// column get zeros. Column j uses element j & mask of the arrays: masks of all ones select each column, 0 the
// first element for all, and 2^n - 1 repeats 2^n columns. Returns a negative value if all shifts are
// negative, by the sign of their AND. 12 instructions for four columns.
inline int32_t prepare_pairs(const int32_t* bias, uint32_t bias_mask, const int32_t* factors,
                             const int8_t* shifts, uint32_t scale_mask, size_t columns, int32_t* to) {
  // AND of all shifts: its sign is set only if all are negative. Lanes without a column do not take part.
  int32_t most = -1;
  uint32x4_t column = vidupq_n_u32(0, 4);
  int32x4_t signs = vdupq_n_s32(most);
  asm volatile(
      "dls lr, %[count]\n"
      "1:\n"
      "vand q0, %q[column], %q[bias_mask]\n"
      "vand q1, %q[column], %q[scale_mask]\n"
      "vptttt.s32 lt, %q[column], %[columns]\n"
      "vldrwt.u32 q2, [%[bias], q0, uxtw #2]\n"
      "vldrwt.u32 q0, [%[factors], q1, uxtw #2]\n"
      "vldrbt.s32 q3, [%[shifts], q1]\n"
      "vandt %q[signs], %q[signs], q3\n"
      "vstrw.32 q2, [%[to]], #16\n"
      "vstrw.32 q0, [%[to]], #16\n"
      "vstrw.32 q3, [%[to]], #16\n"
      "vadd.i32 %q[column], %q[column], %[one]\n"
      "le lr, 1b\n"
      : [column] "+w"(column), [signs] "+w"(signs), [to] "+l"(to)
      : [bias] "r"(bias), [factors] "r"(factors), [shifts] "r"(shifts), [columns] "r"(columns),
        [bias_mask] "w"(vdupq_n_u32(bias_mask)), [scale_mask] "w"(vdupq_n_u32(scale_mask)), [one] "r"(1),
        [count] "r"(4)
      : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
  most = vmaxvq_s32(most, signs);
  return most;
}

// Requantizes the sums of some columns, block after block, with constants that are prepared once. Takes about
// 250 bytes of stack. The referenced arrays must outlive it.
class Quantizer {
 public:
  // Keeps references to `to` and `bias`. `bias` has one element for each column, which is added to the sums;
  // null: zeros.
  Quantizer(const Requantization& to, const int32_t* bias) : to_(to), bias_(bias) {}

  // Selects up to kSumColumns columns from `first` on. If `number`, a power of two, is smaller, that many
  // columns repeat: several pixels with few channels share a block. Costs nothing for the columns that are
  // selected already, so that loops call it for each block.
  [[gnu::noinline]] void set_columns(size_t first, size_t columns, size_t number = kSumColumns) {
    if (first == first_ && columns == columns_ && number == number_) return;
    first_ = first;
    columns_ = columns;
    number_ = number;
    const int32_t zero = 0;
    // number is a power of two: number - 1 selects the column within the repeated ones.
    const auto mask = static_cast<uint32_t>(number - 1);
    const ptrdiff_t scale = to_.step * static_cast<ptrdiff_t>(first);
    const bool is_float = to_.rounding == Rounding::kFloat;
    const auto* factors = (is_float ? reinterpret_cast<const int32_t*>(to_.scales) : to_.multipliers) + scale;
    // kFloat has no shifts; the loads read any valid bytes.
    const auto* shifts = is_float ? reinterpret_cast<const int8_t*>(factors) : to_.shifts + scale;
    const int32_t most = prepare_pairs(bias_ == nullptr ? &zero : bias_ + first, bias_ == nullptr ? 0 : mask,
                                       factors, shifts, to_.step == 0 ? 0 : mask, columns, constants_);
    vstrbq_s8(reinterpret_cast<int8_t*>(constants_ + 48), vdupq_n_s8(static_cast<int8_t>(to_.low)));
    vstrbq_s8(reinterpret_cast<int8_t*>(constants_ + 52), vdupq_n_s8(static_cast<int8_t>(to_.high)));
    pairs_ = is_float                                        ? quantize_float_pairs
             : to_.rounding == Rounding::kSingle && most < 0 ? quantize_pairs
                                                             : nullptr;
  }

  // Stores the results of the selected columns. Precondition: set_columns() was called.
  [[gnu::noinline]] void quantize(const Sums& of) const {
    if (pairs_ == nullptr) {
      const int32_t* bias = bias_ == nullptr ? nullptr : bias_ + first_;
      return quantize_any(to_, bias, first_, columns_, static_cast<uint32_t>(number_ - 1), of);
    }
    const size_t pairs = of.rows / 2;
    PairWork work{of.rows_at, constants_,    of.sums,        of.column_step * sizeof(int32_t),
                  of.out,     of.out_stride, to_.zero_point, pairs,
                  columns_};
    if (pairs > 0) pairs_(work);
    if (of.rows % 2 == 0) return;
    // The last row, as both rows of a pair, whose stores go to the same address.
    const uint32_t last[] = {of.rows_at[of.rows - 1], of.rows_at[of.rows - 1]};
    work.rows_at = last;
    work.out += static_cast<ptrdiff_t>(of.rows - 1) * of.out_stride;
    work.out_stride = 0;
    work.pairs = 1;
    pairs_(work);
  }

 private:
  const Requantization& to_;
  const int32_t* bias_;
  size_t first_ = 0;
  size_t columns_ = 0;
  size_t number_ = 0;
  void (*pairs_)(const PairWork&) = nullptr;
  int32_t constants_[4 * 12 + 8];
};

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
