// SPDX-License-Identifier: BSD-3-Clause
// Requantizes sums of up to 16 columns with Armv7 and Armv8 vectors, as requantize.h defines:
//
//   kSingle   VQDMULH computes floor(sum * multiplier / 2^31), VRSHL rounds that once: lower bits do not
//             affect it. A sum with a shift of 0 or more is first shifted left by one more, with saturation:
//             see requantize_single_upper().
//   kDouble   VQRDMULH and VRSHL. VRSHL rounds halves up; subtracting one from negative values rounds their
//             halves away from 0 and leaves the others.
//   kFloat    FCVTNS on Armv8. Armv7 adds 3 * 2^22. Its vectors flush subnormal scales to 0, which changes
//             nothing: the products are below 2^-94 and round to 0.
//
// Values outside of 16 bits saturate before the zero point is added: they are outside of 8 bits after that
// too.
//
// The constants of a block of columns are prepared once, by prepare(), and serve all rows of a panel or all
// pixels of a strip. Four sums then take two instructions of arithmetic (kSingle), besides the loads of the
// constants, and a narrowing step; the zero point, its saturation and the clamp work on 8 or 16 sums.
#pragma once

#include <cstring>

#include <arm_neon.h>

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/requantize.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kBlock = 16;  // columns of a block

// The constants of a block of columns, one element for each column, so that vectors load them without a
// gather. Only the arrays of the rounding in use are set. The bias is for the callers, who start their sums
// from it.
struct BlockQuantizer {
  int32_t bias[kBlock];
  int32_t multipliers[kBlock];
  float scales[kBlock];
  int32_t raises[kBlock];  // left shifts before the product
  int32_t lowers[kBlock];  // shifts after the product, negative or 0
  Rounding rounding;
  bool any_raised;
  int32_t zero_point, low, high;
};

// Copies `count` elements, or one to all (step 0). Elements from `count` on do not reach a stored result, but
// must be initialized.
template <class T>
RL_INLINE void copy_block(T* to, const T* from, ptrdiff_t step, size_t count) {
  if (step == 0) {
    for (size_t i = 0; i < kBlock; ++i) to[i] = *from;
  } else if (count == kBlock) {
    std::memcpy(to, from, kBlock * sizeof(T));
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = from[i];
    for (size_t i = count; i < kBlock; ++i) to[i] = T{};
  }
}

// Prepares columns `first` to first + count, count <= kBlock. `bias` may be null: zeros. Splits each shift
// into a left shift before the product and a right shift after it, as negative counts for VRSHL. Not inlined:
// it is outside of the loops.
[[gnu::noinline]] void prepare(BlockQuantizer& q, const Requantization& to, const int32_t* bias, size_t first,
                               size_t count) {
  const auto column = static_cast<ptrdiff_t>(first);
  const int32_t zero = 0;
  copy_block(q.bias, bias == nullptr ? &zero : bias + column, bias == nullptr ? 0 : 1, count);
  q.rounding = to.rounding;
  q.zero_point = to.zero_point;
  q.low = to.low;
  q.high = to.high;
  q.any_raised = false;
  if (to.rounding == Rounding::kFloat) {
    copy_block(q.scales, to.scales + to.step * column, to.step, count);
    return;
  }
  copy_block(q.multipliers, to.multipliers + to.step * column, to.step, count);
  int8_t shifts[kBlock];
  copy_block(shifts, to.shifts + to.step * column, to.step, count);
  // kSingle shifts right by at least one, because VRSHL is its only rounding.
  const auto lowest = static_cast<int8_t>(to.rounding == Rounding::kSingle ? -1 : 0);
  // lowers = min(shift, lowest); raises = shift - lowers is from 0 to 31.
  const int8x16_t given = vld1q_s8(shifts);
  const int8x16_t lowers = vminq_s8(given, vdupq_n_s8(lowest));
  const int8x16_t raises = vsubq_s8(given, lowers);
  const int16x8_t lower[2] = {vmovl_s8(vget_low_s8(lowers)), vmovl_s8(vget_high_s8(lowers))};
  const int16x8_t raise[2] = {vmovl_s8(vget_low_s8(raises)), vmovl_s8(vget_high_s8(raises))};
  for (size_t i = 0; i < 2; ++i) {
    vst1q_s32(q.lowers + 8 * i, vmovl_s16(vget_low_s16(lower[i])));
    vst1q_s32(q.lowers + 8 * i + 4, vmovl_s16(vget_high_s16(lower[i])));
    vst1q_s32(q.raises + 8 * i, vmovl_s16(vget_low_s16(raise[i])));
    vst1q_s32(q.raises + 8 * i + 4, vmovl_s16(vget_high_s16(raise[i])));
  }
  // True if a byte of any lane is nonzero.
  const int64x2_t any = vreinterpretq_s64_s8(raises);
  q.any_raised = (vgetq_lane_s64(any, 0) | vgetq_lane_s64(any, 1)) != 0;
}

// float32(sum) * scale to the nearest integer. On Armv7 the clamp comes first, so that the addition of 3 *
// 2^22 rounds: it needs a magnitude of at most 2^22.
RL_INLINE int32x4_t round_float(const BlockQuantizer& q, int32x4_t sums, float32x4_t scales) {
  float32x4_t values = vmulq_f32(vcvtq_f32_s32(sums), scales);
#if defined(__aarch64__)
  static_cast<void>(q);
  return vcvtnq_s32_f32(values);
#else
  values = vmaxq_f32(values, vdupq_n_f32(static_cast<float>(q.low - q.zero_point)));
  values = vminq_f32(values, vdupq_n_f32(static_cast<float>(q.high - q.zero_point)));
  values = vaddq_f32(values, vdupq_n_f32(12582912.0F));
  return vsubq_s32(vreinterpretq_s32_f32(values), vdupq_n_s32(0x4b400000));
#endif
}

// Rounds kVectors vectors of sums, from column 0 on; the branches depend on the block only, not on the sums.
// any_raised skips the left shifts, which hardly any layer needs.
template <size_t kVectors>
RL_INLINE void round_sums(const BlockQuantizer& q, int32x4_t* sums) {
  if (q.rounding == Rounding::kFloat) {
    RL_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      sums[v] = round_float(q, sums[v], vld1q_f32(q.scales + 4 * v));
    }
    return;
  }
  if (q.any_raised) {
    RL_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      sums[v] = vqshlq_s32(sums[v], vld1q_s32(q.raises + 4 * v));
    }
  }
  if (q.rounding == Rounding::kSingle) {
    RL_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      const int32x4_t upper = vqdmulhq_s32(sums[v], vld1q_s32(q.multipliers + 4 * v));
      sums[v] = vrshlq_s32(upper, vld1q_s32(q.lowers + 4 * v));
    }
  } else {
    RL_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      const int32x4_t upper = vqrdmulhq_s32(sums[v], vld1q_s32(q.multipliers + 4 * v));
      const int32x4_t lower = vld1q_s32(q.lowers + 4 * v);
      // ANDs the sign bits of both, since both must be negative. The least `upper` is -2^31 + 1: no overflow.
      sums[v] = vrshlq_s32(vsraq_n_s32(upper, vandq_s32(upper, lower), 31), lower);
    }
  }
}

// Saturates 8 sums to int16.
RL_INLINE int16x8_t narrow(int32x4_t low, int32x4_t high) {
#if defined(__aarch64__)
  return vqmovn_high_s32(vqmovn_s32(low), high);
#else
  return vcombine_s16(vqmovn_s32(low), vqmovn_s32(high));
#endif
}

// The quantized values of the first 8 columns, or of all 16. Overwrites the sums.
RL_INLINE int8x8_t quantize_half(const BlockQuantizer& q, int32x4_t* sums) {
  round_sums<2>(q, sums);
  // Narrowing saturates from 32 to 16 bits, and after the zero point from 16 to 8.
  const int16x8_t zero_point = vdupq_n_s16(static_cast<int16_t>(q.zero_point));
  const int8x8_t numbers = vqmovn_s16(vqaddq_s16(narrow(sums[0], sums[1]), zero_point));
  return vmin_s8(vmax_s8(numbers, vdup_n_s8(static_cast<int8_t>(q.low))),
                 vdup_n_s8(static_cast<int8_t>(q.high)));
}
RL_INLINE int8x16_t quantize(const BlockQuantizer& q, int32x4_t* sums) {
  round_sums<4>(q, sums);
  const int16x8_t zero_point = vdupq_n_s16(static_cast<int16_t>(q.zero_point));
  const int16x8_t low = vqaddq_s16(narrow(sums[0], sums[1]), zero_point);
  const int16x8_t high = vqaddq_s16(narrow(sums[2], sums[3]), zero_point);
#if defined(__aarch64__)
  const int8x16_t numbers = vqmovn_high_s16(vqmovn_s16(low), high);
#else
  const int8x16_t numbers = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
#endif
  return vminq_s8(vmaxq_s8(numbers, vdupq_n_s8(static_cast<int8_t>(q.low))),
                  vdupq_n_s8(static_cast<int8_t>(q.high)));
}

// Stores the first `count` values: fewer than 8 byte by byte, or up to 16 as one vector, or a half and single
// bytes. Writes nothing past `count`.
RL_INLINE void store_some(int8_t* out, int8x8_t numbers, size_t count) {
  auto left = vget_lane_u64(vreinterpret_u64_s8(numbers), 0);
  for (; count > 0; --count, left >>= 8) *out++ = static_cast<int8_t>(left);
}
RL_INLINE void store_block(int8_t* out, int8x16_t numbers, size_t count) {
  if (count == kBlock) {
    vst1q_s8(out, numbers);
    return;
  }
  int8x8_t some = vget_low_s8(numbers);
  if (count >= 8) {
    vst1_s8(out, some);
    out += 8;
    count -= 8;
    some = vget_high_s8(numbers);
  }
  store_some(out, some, count);
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
