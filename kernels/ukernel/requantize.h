// SPDX-License-Identifier: BSD-3-Clause
// How sums of products of integers become quantized numbers.
//
//   quantized = clamp(round(sum * scale) + zero_point, low, high)
//
// There are three roundings. Each has one result, whatever computes it: variants differ in no bit.
//
//   kSingle   The scale is multiplier * 2^(shift - 31). The product has 64 bits and is rounded once:
//             floor((sum * multiplier + 2^(30 - shift)) / 2^(31 - shift)).
//   kDouble   The same scale, rounded twice, as TFLite and CMSIS-NN do: the sum, shifted left if shift > 0,
//             times the multiplier is rounded to its upper half, halves up; that is shifted right if
//             shift < 0, halves away from zero. The left shift must not overflow.
//   kFloat    The scale is a float32, as in XNNPACK: the sum as float32 times the scale in float32, to
//             the nearest integer, halves to even.
//
// Sums of products of int16 have up to 48 bits, see requantize_wide(). There kSingle is the same number, and
// kDouble is what TFLite makes of such sums: the multiplier is rounded to 15 bits, at most 32767, and the
// product once, halves up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::ukernel {

enum class Rounding : uint8_t { kSingle, kDouble, kFloat };

inline constexpr int kLeastShift = -31;
inline constexpr int kMostShift = 30;

// Sums of 48 bits: their magnitudes are at most kMostWideSum, and shifts at most one of these two.
inline constexpr int64_t kMostWideSum = (int64_t{1} << 47) - 1;
inline constexpr int kMostWideShift = 15;       // kSingle
inline constexpr int kMostWideDoubleShift = 7;  // kDouble

// What a row of quantized numbers is made with. A number has a column; arrays have an element for each column
// (step 1) or one for all (step 0).
struct Requantization {
  Rounding rounding = Rounding::kSingle;
  const int32_t* multipliers = nullptr;  // kSingle, kDouble: 0, or 2^30 to 2^31 - 1
  const int8_t* shifts = nullptr;        // kSingle, kDouble: kLeastShift to kMostShift
  const float* scales = nullptr;         // kFloat: finite, more than 0
  ptrdiff_t step = 0;
  int32_t zero_point = 0;  // this, and low <= high, are numbers of the result's dtype
  int32_t low = -128;
  int32_t high = 127;
};

[[nodiscard]] inline int32_t clamp_quantized(int64_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : static_cast<int32_t>(value);
}

[[nodiscard]] inline int64_t requantize_single(int32_t sum, int32_t multiplier, int shift) {
  return (static_cast<int64_t>(sum) * multiplier + (int64_t{1} << (30 - shift))) >> (31 - shift);
}

// The same number for shift <= -2, of the upper half of a 32-bit product: the bits below decide nothing. For
// larger shifts a sum can first be shifted left by shift + 2, saturated, and the shift be -2: with a
// multiplier of 2^30 or more the result of a sum that saturates is far outside of [low, high] either way.
[[nodiscard]] inline int32_t requantize_single_upper(int32_t sum, int32_t multiplier, int shift) {
  const auto upper = static_cast<int32_t>((static_cast<int64_t>(sum) * multiplier) >> 32);
  return (upper + (int32_t{1} << (-2 - shift))) >> (-1 - shift);
}

[[nodiscard]] inline int32_t requantize_double(int32_t sum, int32_t multiplier, int shift) {
  const int64_t raised = shift > 0 ? static_cast<int64_t>(sum) * (int64_t{1} << shift) : sum;
  const auto upper = static_cast<int32_t>((raised * multiplier + (int64_t{1} << 30)) >> 31);
  if (shift >= 0) return upper;
  const auto mask = static_cast<int32_t>((uint32_t{1} << -shift) - 1);
  const int32_t half = (mask >> 1) + (upper < 0 ? 1 : 0);
  return (upper >> -shift) + ((upper & mask) > half ? 1 : 0);
}

// The sum is split into high * 2^16 + low, so that both products have 64 bits: the bits below 2^16 that the
// first shift drops decide nothing.
[[nodiscard]] inline int64_t requantize_single_wide(int64_t sum, int32_t multiplier, int shift) {
  const int64_t high = static_cast<int64_t>(static_cast<int32_t>(sum >> 16)) * multiplier;
  const auto low =
      static_cast<uint64_t>(static_cast<uint32_t>(sum) & 0xffff) * static_cast<uint32_t>(multiplier);
  return (high + static_cast<int64_t>((low + (uint64_t{1} << (30 - shift))) >> 16)) >> (15 - shift);
}

[[nodiscard]] inline int64_t requantize_double_wide(int64_t sum, int32_t multiplier, int shift) {
  const int32_t reduced = multiplier < 0x7fff0000 ? (multiplier + (1 << 15)) >> 16 : 0x7fff;
  return (sum * reduced + (int64_t{1} << (14 - shift))) >> (15 - shift);
}

// Between -2^22 and 2^22, which the sum of a float32 and 3 * 2^22 rounds to an integer, halves to even.
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

[[nodiscard]] [[gnu::always_inline]] inline int32_t requantize_float(const Requantization& to, float sum,
                                                                     ptrdiff_t at) {
  const auto low = static_cast<float>(to.low - to.zero_point);
  const auto high = static_cast<float>(to.high - to.zero_point);
  return requantize_float(sum, to.scales[at], low, high) + to.zero_point;
}

// The quantized number of a sum in a column.
[[nodiscard]] inline int32_t requantize(const Requantization& to, int32_t sum, size_t column) {
  const ptrdiff_t at = to.step * static_cast<ptrdiff_t>(column);
  if (to.rounding == Rounding::kFloat) return requantize_float(to, static_cast<float>(sum), at);
  const int64_t value = to.rounding == Rounding::kSingle
                            ? requantize_single(sum, to.multipliers[at], to.shifts[at])
                            : requantize_double(sum, to.multipliers[at], to.shifts[at]);
  return clamp_quantized(value + to.zero_point, to.low, to.high);
}

// The same of a sum of 48 bits. Most have 32, for which one product suffices: its upper half is the exact
// result, too.
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

// A row of them, side by side: of the columns from `column` on.
inline void requantize_wide_row(const Requantization& to, size_t column, size_t count, const int64_t* sums,
                                int16_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<int16_t>(requantize_wide(to, sums[i], column + i));
}

// By the type of the sum.
template <class Sum>
[[nodiscard]] int32_t requantize_sum(const Requantization& to, Sum sum, size_t column) {
  if constexpr (sizeof(Sum) == sizeof(int64_t)) {
    return requantize_wide(to, sum, column);
  } else {
    return requantize(to, sum, column);
  }
}

}  // namespace rushlight::ukernel
