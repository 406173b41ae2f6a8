// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/quantization/divided_scale.h"

#include <cstddef>

namespace rushlight::kernels {

namespace {

// dividend * 2^32 / divisor, for a divisor of at most 31 bits. Without a 64-bit division instruction: one
// 32-bit division, and long division for the lower half. A fifth of the size of libgcc's function, and not
// slower.
uint64_t divide_shifted(uint32_t dividend, uint32_t divisor) {
  if constexpr (sizeof(size_t) >= sizeof(uint64_t)) return (static_cast<uint64_t>(dividend) << 32) / divisor;
  const uint32_t upper = dividend / divisor;
  uint32_t rest = dividend - upper * divisor, lower = 0;
  for (int bit = 0; bit < 32; ++bit) {
    rest <<= 1;
    lower <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      lower |= 1;
    }
  }
  return (static_cast<uint64_t>(upper) << 32) | lower;
}

}  // namespace

DividedScale::DividedScale(const ukernel::Requantization& to) : whole_(to), divided_(to) {
  divided_.step = 0;
  if (to.rounding == ukernel::Rounding::kFloat) {
    divided_.scales = &scale_;
  } else {
    divided_.multipliers = &multiplier_;
    divided_.shifts = &shift_;
  }
}

const ukernel::Requantization& DividedScale::by(int64_t count) {
  if (count == count_) return divided_;
  count_ = count;
  if (whole_.rounding == ukernel::Rounding::kFloat) {
    // From 32 bits, because microcontrollers with an FPU convert no 64-bit integers, and libgcc's function is
    // large.
    const float quotient = whole_.scales[0] / static_cast<float>(static_cast<int32_t>(count));
    scale_ = quotient < __FLT_MIN__ ? __FLT_MIN__ : quotient;
    return divided_;
  }
  const auto wide = static_cast<uint64_t>(count);
  // Keeps the upper 31 bits of the count.
  const int dropped = wide >> 31 == 0 ? 0 : 33 - __builtin_clzll(wide);
  // The quotient has at least 32 bits: the multiplier has 31 bits and the count at most 31.
  const uint64_t quotient =
      divide_shifted(static_cast<uint32_t>(whole_.multipliers[0]), static_cast<uint32_t>(wide >> dropped));
  multiplier_ = 0;
  shift_ = 0;
  if (quotient == 0) return divided_;
  // Rounds the quotient to its upper 31 bits, halves up; a carry out of these makes one bit more.
  int extra = 33 - __builtin_clzll(quotient);
  uint64_t rounded = (quotient + (uint64_t{1} << (extra - 1))) >> extra;
  if (rounded >> 31 != 0) {
    rounded >>= 1;
    ++extra;
  }
  // multiplier / count = quotient * 2^(-32 - dropped), and quotient = rounded * 2^extra.
  const int shift = whole_.shifts[0] + extra - 32 - dropped;
  if (shift < ukernel::kLeastShift) return divided_;
  multiplier_ = static_cast<int32_t>(rounded);
  shift_ = static_cast<int8_t>(shift);
  return divided_;
}

}  // namespace rushlight::kernels
