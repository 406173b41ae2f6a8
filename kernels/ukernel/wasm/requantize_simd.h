// SPDX-License-Identifier: BSD-3-Clause
// Requantizes sums of up to 8 columns with WebAssembly SIMD, as requantize.h defines. WebAssembly has no
// shift by a different count in each lane: the upper half of a product with 2^(31 - n) shifts right by n and
// can be rounded.
//
//   kSingle   floor(sum * multiplier / 2^31) is rounded once: lower bits cannot affect it. A sum with a shift
//             of 0 or more is first multiplied by 2^(shift + 1). Sums of 1024 / 2^shift and more, whose
//             results are at least 512, are clamped before that.
//   kDouble   Subtracts one from negative products, so that halves round away from 0.
//   kFloat    Adding 3 * 2^22 rounds to an integer, halves to even.
//
// Four sums take two 64-bit products of two lanes each for the multiplier and two more for the shift, and the
// shuffles that join their halves. The constants are prepared once for all rows of a panel or pixels of a
// strip.
#pragma once

#include <cstring>

#include <wasm_simd128.h>

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/requantize.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kBlock = 8;  // columns of a block

// The constants of a block of columns, one element for each column, so that vectors load them without a
// gather. The bias is for the callers, who start their sums from it.
struct BlockQuantizer {
  int32_t bias[kBlock];
  int32_t multipliers[kBlock];
  float scales[kBlock];
  int32_t limits[kBlock];   // kSingle: bounds of a sum before its left shift
  int32_t raises[kBlock];   // 2^(left shift)
  int32_t lowers[kBlock];   // 2^(31 - right shift)
  int32_t lowered[kBlock];  // kDouble: -1 if there is a right shift
  Rounding rounding;
  bool any_raised;
  int32_t zero_point, low, high;
};

// Sets the constants of column i for a shift, as powers of two. kSingle needs a right shift of at least one,
// which rounds. A shift above 10 has the results of 10: every nonzero sum is outside of int8.
RL_INLINE void set_shift(BlockQuantizer& q, size_t i, int shift) {
  int raise, lower;
  if (q.rounding == Rounding::kSingle) {
    const int most = shift > 10 ? 10 : shift;
    raise = shift < 0 ? 0 : most + 1;
    lower = shift < 0 ? -shift : 1;
    q.limits[i] = shift < 0 ? 0x7fffffff : 1024 >> most;
  } else {
    // The caller guarantees that left shifts of kDouble do not overflow, so that they need no bounds.
    raise = shift < 0 ? 0 : shift;
    lower = shift < 0 ? -shift : 0;
    q.lowered[i] = shift < 0 ? -1 : 0;
  }
  q.raises[i] = int32_t{1} << raise;
  q.lowers[i] = lower == 0 ? 0 : int32_t{1} << (31 - lower);
  q.any_raised = q.any_raised || raise != 0;
}

// Prepares columns `first` to first + count, count <= kBlock; `bias` may be null: zeros. Other elements do
// not reach a stored result.
[[gnu::noinline]] void prepare(BlockQuantizer& q, const Requantization& to, const int32_t* bias, size_t first,
                               size_t count) {
  q = {};
  q.rounding = to.rounding;
  q.zero_point = to.zero_point;
  q.low = to.low;
  q.high = to.high;
  for (size_t i = 0; i < count; ++i) {
    const ptrdiff_t at = to.step * static_cast<ptrdiff_t>(first + i);
    if (bias != nullptr) q.bias[i] = bias[first + i];
    if (to.rounding == Rounding::kFloat) {
      q.scales[i] = to.scales[at];
    } else {
      q.multipliers[i] = to.multipliers[at];
      set_shift(q, i, to.shifts[at]);
    }
  }
}

// Bits 31 to 62 of the four products in low (lanes 0 and 1) and high (lanes 2 and 3): floor(product / 2^31),
// which fits in 32 bits here.
RL_INLINE v128_t upper_of(v128_t low, v128_t high) {
  return wasm_i32x4_shuffle(wasm_u64x2_shr(low, 31), wasm_u64x2_shr(high, 31), 0, 2, 4, 6);
}

// kSingle for columns `at` to at + 3, without the zero point. The bounds of a raised sum are limits and
// -limits - 1, which a bitwise not gives.
RL_INLINE v128_t round_single(const BlockQuantizer& q, v128_t sums, size_t at) {
  if (q.any_raised) {
    const v128_t limits = wasm_v128_load(q.limits + at);
    sums = wasm_i32x4_max(wasm_i32x4_min(sums, limits), wasm_v128_not(limits));
    sums = wasm_i32x4_mul(sums, wasm_v128_load(q.raises + at));
  }
  const v128_t multipliers = wasm_v128_load(q.multipliers + at);
  sums = upper_of(wasm_i64x2_extmul_low_i32x4(sums, multipliers),
                  wasm_i64x2_extmul_high_i32x4(sums, multipliers));
  // The second product adds 2^30 before it drops 31 bits, which rounds halves up.
  const v128_t lowers = wasm_v128_load(q.lowers + at);
  const v128_t half = wasm_i64x2_splat(1 << 30);
  return upper_of(wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(sums, lowers), half),
                  wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(sums, lowers), half));
}

// kDouble for columns `at` to at + 3. Lanes without a right shift keep the first rounding: a product with
// 2^31 would not fit.
RL_INLINE v128_t round_double(const BlockQuantizer& q, v128_t sums, size_t at) {
  if (q.any_raised) sums = wasm_i32x4_mul(sums, wasm_v128_load(q.raises + at));
  const v128_t multipliers = wasm_v128_load(q.multipliers + at);
  const v128_t half = wasm_i64x2_splat(1 << 30);
  sums = upper_of(wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(sums, multipliers), half),
                  wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(sums, multipliers), half));
  const v128_t lowers = wasm_v128_load(q.lowers + at);
  v128_t low = wasm_i64x2_extmul_low_i32x4(sums, lowers);
  v128_t high = wasm_i64x2_extmul_high_i32x4(sums, lowers);
  const v128_t zero = wasm_i64x2_splat(0);
  // A comparison gives -1 where it is true: the addition subtracts one from negative products.
  low = wasm_i64x2_add(low, wasm_i64x2_lt(low, zero));
  high = wasm_i64x2_add(high, wasm_i64x2_lt(high, zero));
  const v128_t lowered = upper_of(wasm_i64x2_add(low, half), wasm_i64x2_add(high, half));
  return wasm_v128_bitselect(lowered, sums, wasm_v128_load(q.lowered + at));
}

// kFloat for columns `at` to at + 3. The clamp comes first, so that the magnitude is at most 2^22, where the
// addition rounds. PMAX and PMIN compile to one instruction on x86, unlike MAX and MIN, which treat NaN and
// -0 in a defined manner; no value here is NaN.
RL_INLINE v128_t round_float(const BlockQuantizer& q, v128_t sums, size_t at) {
  v128_t values = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sums), wasm_v128_load(q.scales + at));
  values = wasm_f32x4_pmax(values, wasm_f32x4_splat(static_cast<float>(q.low - q.zero_point)));
  values = wasm_f32x4_pmin(values, wasm_f32x4_splat(static_cast<float>(q.high - q.zero_point)));
  values = wasm_f32x4_add(values, wasm_f32x4_splat(12582912.0F));
  return wasm_i32x4_sub(values, wasm_i32x4_splat(0x4b400000));
}

// The quantized values of 8 columns, in the lower half. Narrowing saturates to 16 bits before the zero point
// is added, as on Arm.
RL_INLINE v128_t quantize(const BlockQuantizer& q, v128_t low, v128_t high) {
  if (q.rounding == Rounding::kSingle) {
    low = round_single(q, low, 0);
    high = round_single(q, high, 4);
  } else if (q.rounding == Rounding::kDouble) {
    low = round_double(q, low, 0);
    high = round_double(q, high, 4);
  } else {
    low = round_float(q, low, 0);
    high = round_float(q, high, 4);
  }
  // 16 bits are enough for the sum with the zero point: values beyond saturate, and the clamp to int8
  // follows.
  const v128_t zero_point = wasm_i16x8_splat(static_cast<int16_t>(q.zero_point));
  v128_t numbers = wasm_i16x8_add_sat(wasm_i16x8_narrow_i32x4(low, high), zero_point);
  numbers = wasm_i8x16_narrow_i16x8(numbers, numbers);
  numbers = wasm_i8x16_max(numbers, wasm_i8x16_splat(static_cast<int8_t>(q.low)));
  return wasm_i8x16_min(numbers, wasm_i8x16_splat(static_cast<int8_t>(q.high)));
}

// Stores the first `count` <= 8 values and nothing past them.
RL_INLINE void store_some(int8_t* out, v128_t numbers, size_t count) {
  if (count == kBlock) {
    wasm_v128_store64_lane(out, numbers, 0);
    return;
  }
  auto left = static_cast<uint64_t>(wasm_i64x2_extract_lane(numbers, 0));
  for (; count > 0; --count, left >>= 8) *out++ = static_cast<int8_t>(left);
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
