// SPDX-License-Identifier: BSD-3-Clause
// Requantizes on Arm cores without wide vectors, as requantize.h defines. Frequent shifts need only the upper
// half of one product: the rounding term and the zero point are one addend, shared by a column. Other shifts
// take the general path. Cores without 64-bit products (ARMv6-M) compute the upper half from four 16-bit
// products. Functions are inline so that a program has each once, not one for each source.
//
// With right = -1 - shift and upper = floor(sum * multiplier / 2^32), kSingle plus the zero point is
//
//   floor((upper + 2^(right - 1)) / 2^right) + zero_point
//       = (upper + ((2 * zero_point + 1) << (right - 1))) >> right
//
// so that a value takes a product, an addition and a shift before it is clamped. Shifts from -2 to -1 -
// kMostRight qualify: scales below 1/4, as nearly all layers have.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// multiply_upper_add(a, b, addend) = floor(a * b / 2^32) + addend, the sum within 32 bits. SMMLA is one
// instruction, SMULL and ADD are two; ARMv6-M needs four MULS and the additions of their parts.
//
// multiply_doubled(a, b) = floor((a * b + 2^30) / 2^31), the product of kDouble.
#if defined(__ARM_FEATURE_DSP)
inline int32_t multiply_upper_add(int32_t a, int32_t b, int32_t addend) {
  // SMMLA drops the lower half of the product without rounding.
  asm("smmla %0, %1, %2, %3" : "=r"(addend) : "r"(a), "r"(b), "r"(addend));
  return addend;
}
#elif defined(__thumb__) && !defined(__thumb2__)
// floor(a * b / 2^32) for 0 <= b < 2^31 by the schoolbook method: halves of 16 bits, whose products fit in
// 32.
inline int32_t multiply_upper(int32_t a, int32_t b) {
  const auto low_a = static_cast<int32_t>(static_cast<uint16_t>(a));
  const auto low_b = static_cast<uint32_t>(static_cast<uint16_t>(b));
  const int32_t high_a = a >> 16;
  const int32_t high_b = b >> 16;  // from 0 to 2^15 - 1: no sum here exceeds 32 bits
  // The product of the lower halves contributes only its upper half.
  const auto carry = static_cast<int32_t>((static_cast<uint32_t>(low_a) * low_b) >> 16);
  const int32_t middle = high_a * static_cast<int32_t>(low_b) + carry;
  const int32_t rest = low_a * high_b + static_cast<int32_t>(static_cast<uint16_t>(middle));
  return high_a * high_b + (middle >> 16) + (rest >> 16);
}
inline int32_t multiply_upper_add(int32_t a, int32_t b, int32_t addend) {
  return multiply_upper(a, b) + addend;
}
// 2 * upper + floor((lower + 2^30) / 2^31) for the 64-bit product upper * 2^32 + lower.
inline int32_t multiply_doubled(int32_t a, int32_t b) {
  const uint32_t lower = static_cast<uint32_t>(a) * static_cast<uint32_t>(b);
  return multiply_upper(a, b) * 2 + static_cast<int32_t>(((lower >> 30) + 1) >> 1);
}
#else
inline int32_t multiply_upper_add(int32_t a, int32_t b, int32_t addend) {
  return static_cast<int32_t>((static_cast<int64_t>(a) * b) >> 32) + addend;
}
#endif
#if !defined(__thumb__) || defined(__thumb2__)
inline int32_t multiply_doubled(int32_t a, int32_t b) {
  return static_cast<int32_t>((static_cast<int64_t>(a) * b + (int64_t{1} << 30)) >> 31);
}
#endif

// The largest right shift for which the rounding term and the zero point fit in one 32-bit addend: 2 *
// zero_point + 1 has at most 9 bits with its sign, and |upper| is at most 2^30. quantize_usual() has the
// number in its assembler.
constexpr int32_t kMostRight = 20;

// Values outside of [low, high] become the nearest bound.
[[nodiscard]] inline int32_t clamp(int32_t value, int32_t low, int32_t high) {
  if (value < low) value = low;
  if (value > high) value = high;
  return value;
}

// Any scale: requantizes `count` contiguous sums of a column. `at` is the column's index in the arrays of
// `to`. kFloat with an FPU rounds by VCVTR in the mode of FPSCR, to nearest even by default; without an FPU
// it calls the compiler's float functions.
[[gnu::noinline]] inline void quantize_column(const Requantization& to, ptrdiff_t at, const int32_t* sums,
                                              size_t count, int8_t* out, ptrdiff_t out_stride) {
  // Values are clamped before the zero point is added: near the ends of int32 the sum would overflow.
  const int32_t zero_point = to.zero_point, low = to.low, high = to.high;
  const int32_t* end = sums + count;
  if (to.rounding == Rounding::kFloat) {
    const float scale = to.scales[at];
    for (; sums != end; out += out_stride) {
#if defined(__ARM_FP)
      // Rounds to nearest, halves to even, and saturates: integers can be clamped instead of floats.
      float bits;
      asm("vcvtr.s32.f32 %0, %1" : "=t"(bits) : "t"(static_cast<float>(*sums++) * scale));
      int32_t value;
      __builtin_memcpy(&value, &bits, sizeof(value));
      *out = static_cast<int8_t>(clamp(value, low - zero_point, high - zero_point) + zero_point);
#else
      const int32_t value =
          requantize_float(static_cast<float>(*sums++), scale, static_cast<float>(low - zero_point),
                           static_cast<float>(high - zero_point));
      *out = static_cast<int8_t>(value + zero_point);
#endif
    }
    return;
  }
  // Rounds by the bit below, in 32 bits for all shifts; requantize.h explains larger ones.
  const int32_t multiplier = to.multipliers[at];
  const int32_t shift = to.shifts[at];
  const bool is_single = to.rounding == Rounding::kSingle;
  const int32_t left = shift + (is_single ? 2 : 0);
  const int32_t raise = left < 0 ? 0 : left > 31 ? 31 : left;
  const int32_t right = left < 0 ? -left : 0;
  for (; sums != end; out += out_stride) {
    int32_t value = *sums++;
    // A shift that overflows saturates: the result is out of [low, high] either way.
    const auto raised = static_cast<int32_t>(static_cast<uint32_t>(value) << raise);
    value = raised >> raise == value ? raised : value < 0 ? INT32_MIN : INT32_MAX;
    if (is_single) {
      value = multiply_upper_add(value, multiplier, 0) >> right;
      // floor(v / 2^(n + 1) + 1/2) = (w >> 1) + (w & 1) for w = v >> n: the rounding term cannot overflow.
      value = (value >> 1) + (value & 1);
    } else {
      value = multiply_doubled(value, multiplier);
      if (right > 0) {
        // kDouble rounds halves away from zero, by subtracting one from negative values, and only if there is
        // a shift.
        value = (value + (value >> 31)) >> (right - 1);
        value = (value >> 1) + (value & 1);
      }
    }
    *out = static_cast<int8_t>(clamp(value, low - zero_point, high - zero_point) + zero_point);
  }
}

// The columns left to do. Assembler reads the members by their offsets, 4 bytes each. Strides and gaps are in
// bytes, except `step`. Sums of a column are contiguous; results of a column are out_stride apart.
struct QuantizedColumns {
  const int32_t* sums;
  int8_t* out;
  const int32_t* multipliers;
  const int8_t* shifts;
  size_t columns;
  size_t count;  // sums of a column
  ptrdiff_t out_stride;
  ptrdiff_t sums_gap;  // from the end of a column's sums to the next column's
  ptrdiff_t step;      // in elements
  ptrdiff_t out_gap;   // from the end of a column to the next column
  int32_t zero_point;  // 2 * zero point + 1
};

#if !defined(__thumb__) || defined(__thumb2__)
#if defined(__ARM_FEATURE_DSP)
#define RL_SCALE "smmla r10, r10, r9, r7\n"
#else
#define RL_SCALE "smull r11, r10, r10, r9\n add r10, r10, r7\n"
#endif
// kSingle with saturation to int8, up to the first column with an infrequent shift; `work` then describes the
// columns from that one on. In assembler, since compilers keep less in registers: eight instructions a value
// (nine without DSP) and 16 a column.
//
//   r0 sums     r1 out        r2 multipliers   r3 shifts      r4 columns   r5 count   r6 out_stride
//   r7 addend   r8 right      r9 multiplier    r10 value      r11 low half of a product
//   r12 work    lr 2 * zero_point + 1
[[gnu::naked, gnu::noinline]] inline void quantize_usual([[maybe_unused]] QuantizedColumns& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "mov r12, r0\n"
      "ldr r6, [r12, #24]\n"
      "ldr lr, [r12, #40]\n"
      "ldmia r12, {r0-r4}\n"
      "1:\n"
      "ldrsb r8, [r3]\n"
      "mvn r8, r8\n"
      "sub r7, r8, #1\n"
      "cmp r7, #19\n"
      "bhi 3f\n"
      "lsl r7, lr, r7\n"
      "ldr r5, [r12, #20]\n"
      "ldr r9, [r2]\n"
      "2:\n"
      "ldr r10, [r0], #4\n" RL_SCALE
      "asr r10, r10, r8\n"
      "ssat r10, #8, r10\n"
      "strb r10, [r1]\n"
      "add r1, r1, r6\n"
      "subs r5, r5, #1\n"
      "bne 2b\n"
      "ldrd r8, r9, [r12, #28]\n"
      "ldr r10, [r12, #36]\n"
      "add r0, r0, r8\n"
      "add r1, r1, r10\n"
      "add r2, r2, r9, lsl #2\n"
      "add r3, r3, r9\n"
      "subs r4, r4, #1\n"
      "bne 1b\n"
      "3:\n"
      "stmia r12, {r0-r4}\n"
      "pop {r4-r11, pc}\n");
}
static_assert(kMostRight == 20);
#else
// The same in C++ for ARMv6-M.
inline void quantize_usual(QuantizedColumns& work) {
  while (work.columns > 0) {
    const int32_t right = -1 - *work.shifts;
    // In the assembler above, one unsigned comparison of right - 1 checks both limits.
    if (right < 1 || right > kMostRight) return;
    const int32_t multiplier = *work.multipliers;
    const int32_t addend = work.zero_point << (right - 1);
    const ptrdiff_t out_stride = work.out_stride;
    const int32_t* sums = work.sums;
    int8_t* out = work.out;
    for (size_t rest = work.count; rest > 0; --rest, out += out_stride) {
      int32_t value = multiply_upper_add(*sums++, multiplier, addend) >> right;
      // ARMv6-M has no SSAT.
      if (value != static_cast<int8_t>(value)) value = value < 0 ? -128 : 127;
      *out = static_cast<int8_t>(value);
    }
    work.sums = sums + work.sums_gap / static_cast<ptrdiff_t>(sizeof(int32_t));
    work.out = out + work.out_gap;
    work.multipliers += work.step;
    work.shifts += work.step;
    --work.columns;
  }
}
#endif

// Clamps results that are already int8 to a narrower range, as of a fused ReLU: a second pass, so that the
// frequent case pays nothing for it. `column` and `end` are the first elements of the columns.
inline void clamp_columns(int8_t* column, const int8_t* end, size_t count, ptrdiff_t stride, int32_t low,
                          int32_t high) {
  for (; column != end; ++column) {
    int8_t* number = column;
    for (size_t rest = count; rest > 0; --rest, number += stride) {
      *number = static_cast<int8_t>(clamp(*number, low, high));
    }
  }
}

// Requantizes `columns` columns of `count` > 0 sums each; the columns are `pitch` >= count sums apart.
// `column` is the index of the first one, and out[i * out_stride + j] receives row i of column j. Alternates
// between quantize_usual() and single columns that it leaves.
[[gnu::noinline]] inline void quantize_columns(const Requantization& to, size_t column, size_t columns,
                                               const int32_t* sums, size_t pitch, size_t count, int8_t* out,
                                               ptrdiff_t out_stride) {
  const bool usual = to.rounding == Rounding::kSingle;
  const bool narrow = to.low > -128 || to.high < 127;
  // After a column, the pointers have moved by `count` sums and `count` results; the gaps take them to the
  // next.
  QuantizedColumns work;
  work.sums = sums;
  work.out = out;
  work.step = usual ? to.step : 0;  // kFloat has neither multipliers nor shifts
  work.multipliers = to.multipliers + work.step * static_cast<ptrdiff_t>(column);
  work.shifts = to.shifts + work.step * static_cast<ptrdiff_t>(column);
  work.columns = columns;
  work.count = count;
  work.out_stride = out_stride;
  work.sums_gap = static_cast<ptrdiff_t>((pitch - count) * sizeof(int32_t));
  work.out_gap = 1 - out_stride * static_cast<ptrdiff_t>(count);
  work.zero_point = 2 * to.zero_point + 1;
  while (work.columns > 0) {
    if (usual) {
      int8_t* first = work.out;
      quantize_usual(work);
      if (narrow) clamp_columns(first, work.out, count, out_stride, to.low, to.high);
      if (work.columns == 0) return;
    }
    // quantize_usual() has stopped at this column, whose shift it does not handle, or the rounding is
    // another.
    const size_t at = column + columns - work.columns;
    quantize_column(to, to.step * static_cast<ptrdiff_t>(at), work.sums, count, work.out, out_stride);
    work.sums += pitch;
    ++work.out;
    work.multipliers += work.step;
    work.shifts += work.step;
    --work.columns;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
