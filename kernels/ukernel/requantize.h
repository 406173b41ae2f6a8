// SPDX-License-Identifier: BSD-3-Clause
// Requantization: converts integer sums of products to quantized values.
//
//   quantized = clamp(round(sum * scale) + zero_point, low, high)
//
// There are three roundings. Each is defined to the bit, so that all variants give the same result:
//
//   kSingle   The scale is multiplier * 2^(shift - 31). The 64-bit product is rounded once, halves up:
//             floor((sum * multiplier + 2^(30 - shift)) / 2^(31 - shift)).
//   kDouble   The same scale, rounded twice as in TFLite and CMSIS-NN: the sum, shifted left if shift > 0,
//             times the multiplier is rounded to its upper half, halves up; if shift < 0, that is shifted
//             right, halves away from zero. The left shift must not overflow.
//   kFloat    The scale is a float32, as in XNNPACK: float32(sum) * scale in float32, rounded to the nearest
//             integer, halves to even.
//
// Sums of products of int16 have up to 48 bits, see requantize_wide(). For them kSingle has the same
// definition, and kDouble is TFLite's rule for such sums: the multiplier is rounded to 15 bits, at most
// 32767, and the product is rounded once, halves up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::ukernel {

enum class Rounding : uint8_t { kSingle, kDouble, kFloat };

inline constexpr int kLeastShift = -31;
inline constexpr int kMostShift = 30;

// Limits of 48-bit sums: |sum| <= kMostWideSum, shift <= one of the two below.
inline constexpr int64_t kMostWideSum = (int64_t{1} << 47) - 1;
inline constexpr int kMostWideShift = 15;       // kSingle
inline constexpr int kMostWideDoubleShift = 7;  // kDouble

// Parameters of the requantization of a row. Each element belongs to a column (a channel); the arrays have
// one element for each column (step 1) or one for all (step 0). Does not own the arrays.
struct Requantization {
  Rounding rounding = Rounding::kSingle;
  const int32_t* multipliers = nullptr;  // kSingle, kDouble: 0, or 2^30 to 2^31 - 1
  const int8_t* shifts = nullptr;        // kSingle, kDouble: kLeastShift to kMostShift
  const float* scales = nullptr;         // kFloat: finite and positive
  ptrdiff_t step = 0;
  int32_t zero_point = 0;  // zero_point and low <= high are values of the result's dtype
  int32_t low = -128;
  int32_t high = 127;
};

// Saturates to [low, high]; low <= high.
[[nodiscard]] inline int32_t clamp_quantized(int64_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : static_cast<int32_t>(value);
}

// kSingle without the zero point. No intermediate value overflows: the product has a magnitude of at most
// 2^62, and the rounding term is at most 2^61. With a multiplier of 2^30 or more, the scale lies between
// 2^(shift - 1) and 2^shift.
[[nodiscard]] inline int64_t requantize_single(int32_t sum, int32_t multiplier, int shift) {
  return (static_cast<int64_t>(sum) * multiplier + (int64_t{1} << (30 - shift))) >> (31 - shift);
}

// The same result for shift <= -2 from the upper half of the 64-bit product, since the lower half cannot
// affect it. For larger shifts a sum can first be shifted left by shift + 2 with saturation, and the shift
// set to -2: with a multiplier of 2^30 or more, a saturated sum gives a result far outside of [low, high]
// either way.
[[nodiscard]] inline int32_t requantize_single_upper(int32_t sum, int32_t multiplier, int shift) {
  const auto upper = static_cast<int32_t>((static_cast<int64_t>(sum) * multiplier) >> 32);
  return (upper + (int32_t{1} << (-2 - shift))) >> (-1 - shift);
}

// kDouble without the zero point: the steps of TFLite's MultiplyByQuantizedMultiplier. The first rounding
// adds half before the shift by 31; its special case, both factors the least int32, cannot arise with a
// positive multiplier. The second compares the bits that are shifted out with a half, plus one if the value
// is negative.
[[nodiscard]] inline int32_t requantize_double(int32_t sum, int32_t multiplier, int shift) {
  const int64_t raised = shift > 0 ? static_cast<int64_t>(sum) * (int64_t{1} << shift) : sum;
  const auto upper = static_cast<int32_t>((raised * multiplier + (int64_t{1} << 30)) >> 31);
  if (shift >= 0) return upper;
  const auto mask = static_cast<int32_t>((uint32_t{1} << -shift) - 1);
  const int32_t half = (mask >> 1) + (upper < 0 ? 1 : 0);
  return (upper >> -shift) + ((upper & mask) > half ? 1 : 0);
}

// Splits the sum into high * 2^16 + low, so that both products fit in 64 bits. The 16 bits that the first
// shift drops cannot affect the result.
[[nodiscard]] inline int64_t requantize_single_wide(int64_t sum, int32_t multiplier, int shift) {
  const int64_t high = static_cast<int64_t>(static_cast<int32_t>(sum >> 16)) * multiplier;
  const auto low =
      static_cast<uint64_t>(static_cast<uint32_t>(sum) & 0xffff) * static_cast<uint32_t>(multiplier);
  return (high + static_cast<int64_t>((low + (uint64_t{1} << (30 - shift))) >> 16)) >> (15 - shift);
}

// The multiplier is rounded to 15 bits, and the largest ones to 32767, since 32768 has 16. 48 bits times 15
// fit in 64.
[[nodiscard]] inline int64_t requantize_double_wide(int64_t sum, int32_t multiplier, int shift) {
  const int32_t reduced = multiplier < 0x7fff0000 ? (multiplier + (1 << 15)) >> 16 : 0x7fff;
  return (sum * reduced + (int64_t{1} << (14 - shift))) >> (15 - shift);
}

// Rounds without a conversion instruction: adding 3 * 2^22 to a float32 between -2^22 and 2^22 rounds it to
// an integer, halves to even, in the low bits of its mantissa. `low` and `high` are bounds of the result
// without its zero point; they are applied first and so keep the value in that range. NaN cannot arise, as
// sums are integers and scales finite. 0x4b400000 is the pattern of 3 * 2^22.
[[nodiscard]] inline int32_t requantize_float(float sum, float scale, float low, float high) {
  constexpr float kMagic = 12582912.0F;
  float value = sum * scale;
  value = value < low ? low : value;
  value = value > high ? high : value;
  value += kMagic;
  int32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits - 0x4b400000;
}

// Adds the zero point; `at` is the index of the scale.
[[nodiscard]] [[gnu::always_inline]] inline int32_t requantize_float(const Requantization& to, float sum,
                                                                     ptrdiff_t at) {
  const auto low = static_cast<float>(to.low - to.zero_point);
  const auto high = static_cast<float>(to.high - to.zero_point);
  return requantize_float(sum, to.scales[at], low, high) + to.zero_point;
}

// The quantized value of a 32-bit sum in a column, for results of at most 16 bits: the definition that all
// variants of all families match.
[[nodiscard]] inline int32_t requantize(const Requantization& to, int32_t sum, size_t column) {
  const ptrdiff_t at = to.step * static_cast<ptrdiff_t>(column);
  if (to.rounding == Rounding::kFloat) return requantize_float(to, static_cast<float>(sum), at);
  const int64_t value = to.rounding == Rounding::kSingle
                            ? requantize_single(sum, to.multipliers[at], to.shifts[at])
                            : requantize_double(sum, to.multipliers[at], to.shifts[at]);
  return clamp_quantized(value + to.zero_point, to.low, to.high);
}

// The quantized value of a 48-bit sum. Most sums fit in 32 bits, where the upper half of one product is exact
// and cheaper.
[[nodiscard]] inline int32_t requantize_wide(const Requantization& to, int64_t sum, size_t column) {
  const ptrdiff_t at = to.step * static_cast<ptrdiff_t>(column);
  if (to.rounding == Rounding::kFloat) return requantize_float(to, static_cast<float>(sum), at);
  const int32_t multiplier = to.multipliers[at];
  const int shift = to.shifts[at];
  if (to.rounding == Rounding::kSingle && shift <= -2 && sum == static_cast<int32_t>(sum)) {
    const int32_t steps = requantize_single_upper(static_cast<int32_t>(sum), multiplier, shift);
    return clamp_quantized(int64_t{steps} + to.zero_point, to.low, to.high);
  }
  const int64_t value = to.rounding == Rounding::kSingle ? requantize_single_wide(sum, multiplier, shift)
                                                         : requantize_double_wide(sum, multiplier, shift);
  return clamp_quantized(value + to.zero_point, to.low, to.high);
}

// Requantizes `count` sums of the columns from `column` on.
inline void requantize_wide_row(const Requantization& to, size_t column, size_t count, const int64_t* sums,
                                int16_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<int16_t>(requantize_wide(to, sums[i], column + i));
}

// Selects requantize() or requantize_wide() by the type of the sum.
template <class Sum>
[[nodiscard]] int32_t requantize_sum(const Requantization& to, Sum sum, size_t column) {
  if constexpr (sizeof(Sum) == sizeof(int64_t)) {
    return requantize_wide(to, sum, column);
  } else {
    return requantize(to, sum, column);
  }
}

}  // namespace rushlight::ukernel
