// SPDX-License-Identifier: BSD-3-Clause
// Samples for tests of the int8 families: random values with many extremes, and requantizations with scales
// from tiny to above 1.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>

#include "kernels/ukernel/requantize.h"
#include "tests/kernels/ukernel/guarded.h"

namespace rushlight::testing {

// The generator of all samples, with a fixed seed: every run and machine has the same samples in the same
// order of tests. minstd_rand has one integer of state, so boards can afford it.
inline std::minstd_rand& int8_bits() {
  static std::minstd_rand bits;
  return bits;
}

// A quarter of the values are -128 or 127.
inline void fill_int8(Guarded<int8_t>& numbers) {
  for (int8_t& each : numbers) {
    const auto bits = static_cast<uint32_t>(int8_bits()());
    each = bits % 8 == 0 ? int8_t{-128} : bits % 8 == 1 ? int8_t{127} : static_cast<int8_t>(bits >> 8);
  }
}

// The parameters of a requantization. Typical shifts give a scale of about 100 / sum.
struct RequantizationCase {
  ukernel::Rounding rounding;
  bool by_columns;
  int shift;  // for column 0; others differ by a few, within the allowed range
  int32_t zero_point = 3;
  int32_t low = -128;
  int32_t high = 127;
};

// Each rounding with typical, least and largest shifts, zero points at the ends, and ranges of ReLU and
// ReLU6.
inline const RequantizationCase kRequantizations[] = {
    {ukernel::Rounding::kSingle, true, -8},
    {ukernel::Rounding::kSingle, false, -8},
    {ukernel::Rounding::kSingle, true, -1, -128, -128, 100},
    {ukernel::Rounding::kSingle, true, -30},
    {ukernel::Rounding::kSingle, true, 30},
    {ukernel::Rounding::kSingle, false, 2, 5, 5, 90},
    {ukernel::Rounding::kDouble, true, -8},
    {ukernel::Rounding::kDouble, false, -7, -20, -20, 127},
    {ukernel::Rounding::kDouble, true, -30},
    {ukernel::Rounding::kDouble, true, 0},
    {ukernel::Rounding::kDouble, false, 2},
    {ukernel::Rounding::kFloat, true, -8},
    {ukernel::Rounding::kFloat, false, -8, 127, 0, 127},
    {ukernel::Rounding::kFloat, true, 2, -128, -128, 5},
};

// Valid until the next call. Returns no std::string, which boards lack.
inline const char* name_of(const RequantizationCase& each) {
  static char text[40];
  // In the order of the enumerators.
  const char* roundings[] = {"single", "double", "float"};
  std::snprintf(text, sizeof(text), "%s%s shift %d", roundings[static_cast<int>(each.rounding)],
                each.by_columns ? " by columns" : "", each.shift);
  return text;
}

// A requantization of `columns` columns. Its arrays end at protected pages. Multipliers include 0, the least
// (2^30) and the largest (2^31 - 1); shifts differ by a few from the case's. Biases are within 50000 of 0.
class Requantizations {
 public:
  Requantizations(const RequantizationCase& from, size_t columns, Edge edge)
      : count_(from.by_columns ? columns : 1),
        multipliers_(count_, edge),
        shifts_(count_, edge),
        scales_(count_, edge),
        bias_(columns, edge) {
    const bool is_double = from.rounding == ukernel::Rounding::kDouble;
    for (size_t i = 0; i < count_; ++i) {
      const auto bits = static_cast<uint32_t>(int8_bits()());
      // In the range of normalised multipliers, which requantize.h requires, or 0.
      multipliers_[i] = static_cast<int32_t>((1u << 30) + bits % (1u << 30));
      if (bits % 61 == 0) multipliers_[i] = 0;
      if (bits % 61 == 1) multipliers_[i] = 1 << 30;
      if (bits % 61 == 2) multipliers_[i] = 0x7fffffff;
      // One less to two more than the case's.
      int shift = from.shift + static_cast<int>(bits >> 16 & 3) - 1;
      // kDouble shifts sums to the left before it multiplies, which must not overflow.
      const int most = is_double ? 3 : ukernel::kMostShift;
      if (shift < ukernel::kLeastShift) shift = ukernel::kLeastShift;
      if (shift > most) shift = most;
      shifts_[i] = static_cast<int8_t>(shift);
      // The same scale as a float: multiplier * 2^(shift - 31), not 0. 4.656612873e-10 is 2^-31.
      scales_[i] = static_cast<float>(multipliers_[i] | 1) * 4.656612873e-10F;
      for (int j = 0; j < shift; ++j) scales_[i] *= 2;
      for (int j = 0; j > shift; --j) scales_[i] /= 2;
    }
    for (int32_t& each : bias_) each = static_cast<int32_t>(int8_bits()() % 100001) - 50000;
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
  [[nodiscard]] const int32_t* bias() const { return bias_.data(); }

 private:
  size_t count_;
  Guarded<int32_t> multipliers_;
  Guarded<int8_t> shifts_;
  Guarded<float> scales_;
  Guarded<int32_t> bias_;
  ukernel::Requantization to_;
};

}  // namespace rushlight::testing
