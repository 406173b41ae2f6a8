// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/quantization/divided_scale.h"

namespace rushlight::kernels {

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
    const float quotient = whole_.scales[0] / static_cast<float>(count);
    scale_ = quotient < __FLT_MIN__ ? __FLT_MIN__ : quotient;
    return divided_;
  }
  const auto wide = static_cast<uint64_t>(count);
  const int dropped = wide >> 31 == 0 ? 0 : 33 - __builtin_clzll(wide);
  // 32 bits at least, as the multiplier has 31 and the count 31 at most.
  const uint64_t quotient = (static_cast<uint64_t>(whole_.multipliers[0]) << 32) / (wide >> dropped);
  multiplier_ = 0;
  shift_ = 0;
  if (quotient == 0) return divided_;
  int extra = 33 - __builtin_clzll(quotient);
  uint64_t rounded = (quotient + (uint64_t{1} << (extra - 1))) >> extra;
  if (rounded >> 31 != 0) {
    rounded >>= 1;
    ++extra;
  }
  const int shift = whole_.shifts[0] + extra - 32 - dropped;
  if (shift < ukernel::kLeastShift) return divided_;
  multiplier_ = static_cast<int32_t>(rounded);
  shift_ = static_cast<int8_t>(shift);
  return divided_;
}

}  // namespace rushlight::kernels
