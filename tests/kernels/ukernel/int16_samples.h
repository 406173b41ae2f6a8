// SPDX-License-Identifier: BSD-3-Clause
// Samples for tests of the int16 families: random values with many extremes, and requantizations of 48-bit
// sums.
#pragma once

#include <cstdint>
#include <random>

#include "kernels/ukernel/requantize.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int8_samples.h"

namespace rushlight::testing {

// A quarter of the values are INT16_MIN or INT16_MAX: their products overflow sums that are too narrow.
inline void fill_int16(Guarded<int16_t>& numbers) {
  for (int16_t& each : numbers) {
    const auto bits = static_cast<uint32_t>(int8_bits()());
    each = bits % 8 == 0 ? INT16_MIN : bits % 8 == 1 ? INT16_MAX : static_cast<int16_t>(bits >> 8);
  }
}

// Each rounding with typical, extreme and largest shifts, and ranges of ReLU. The zero point of int16 is 0.
inline const RequantizationCase kWideRequantizations[] = {
    {ukernel::Rounding::kSingle, true, -9, 0, INT16_MIN, INT16_MAX},
    {ukernel::Rounding::kSingle, false, -8, 0, -32767, 32767},
    {ukernel::Rounding::kSingle, true, -30, 0, INT16_MIN, INT16_MAX},
    {ukernel::Rounding::kSingle, true, 15, 0, INT16_MIN, INT16_MAX},
    {ukernel::Rounding::kSingle, false, -12, 0, 0, 20000},
    {ukernel::Rounding::kDouble, true, -9, 0, INT16_MIN, INT16_MAX},
    {ukernel::Rounding::kDouble, false, -7, 0, 0, 32767},
    {ukernel::Rounding::kDouble, true, -30, 0, INT16_MIN, INT16_MAX},
    {ukernel::Rounding::kDouble, true, 7, 0, INT16_MIN, INT16_MAX},
    {ukernel::Rounding::kFloat, true, -9, 0, INT16_MIN, INT16_MAX},
    {ukernel::Rounding::kFloat, false, 2, 0, -300, 300},
};

// A requantization of `columns` columns with biases of up to 2^46. Its arrays end at protected pages.
// Multipliers include 0, the least (2^30) and the largest (2^31 - 1); shifts differ by a few from the case's.
class WideRequantizations {
 public:
  WideRequantizations(const RequantizationCase& from, size_t columns, Edge edge)
      : count_(from.by_columns ? columns : 1),
        multipliers_(count_, edge),
        shifts_(count_, edge),
        scales_(count_, edge),
        bias_(columns, edge) {
    // Shifts of 48-bit sums are limited by the rounding; see requantize.h.
    const int most =
        from.rounding == ukernel::Rounding::kDouble ? ukernel::kMostWideDoubleShift : ukernel::kMostWideShift;
    for (size_t i = 0; i < count_; ++i) {
      const auto bits = static_cast<uint32_t>(int8_bits()());
      // In the range of normalised multipliers, which requantize.h requires, or 0.
      multipliers_[i] = static_cast<int32_t>((1u << 30) + bits % (1u << 30));
      if (bits % 61 == 0) multipliers_[i] = 0;
      if (bits % 61 == 1) multipliers_[i] = 1 << 30;
      if (bits % 61 == 2) multipliers_[i] = 0x7fffffff;
      int shift = from.shift + static_cast<int>(bits >> 16 & 3) - 1;
      if (shift < ukernel::kLeastShift) shift = ukernel::kLeastShift;
      if (shift > most) shift = most;
      shifts_[i] = static_cast<int8_t>(shift);
      // The same scale as a float: multiplier * 2^(shift - 31), not 0. 4.656612873e-10 is 2^-31.
      scales_[i] = static_cast<float>(multipliers_[i] | 1) * 4.656612873e-10F;
      for (int j = 0; j < shift; ++j) scales_[i] *= 2;
      for (int j = 0; j > shift; --j) scales_[i] /= 2;
    }
    // Mostly up to 1e6; one in seven is 2^25 times as large, up to 2^45.
    for (int64_t& each : bias_) {
      const auto bits = static_cast<uint32_t>(int8_bits()());
      each = static_cast<int64_t>(bits % 2000001) - 1000000;
      if (bits % 7 == 0) each *= 1 << 25;
    }
    // Only the arrays of the rounding are passed, so a kernel that reads others crashes.
    to_.rounding = from.rounding;
    if (from.rounding == ukernel::Rounding::kFloat) {
      to_.scales = scales_.data();
    } else {
      to_.multipliers = multipliers_.data();
      to_.shifts = shifts_.data();
    }
    to_.step = from.by_columns ? 1 : 0;
    to_.zero_point = from.zero_point;
    to_.low = from.low;
    to_.high = from.high;
  }

  [[nodiscard]] const ukernel::Requantization& to() const { return to_; }
  [[nodiscard]] const int64_t* bias() const { return bias_.data(); }

 private:
  size_t count_;
  Guarded<int32_t> multipliers_;
  Guarded<int8_t> shifts_;
  Guarded<float> scales_;
  Guarded<int64_t> bias_;
  ukernel::Requantization to_;
};

}  // namespace rushlight::testing
