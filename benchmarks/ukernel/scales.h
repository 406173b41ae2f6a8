// SPDX-License-Identifier: BSD-3-Clause
// Requantizations of sums of int8 products by columns, with scales that clamp few results.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/requantize.h"

namespace rushlight::bench {

class Scales {
 public:
  // For sums of `depth` products.
  Scales(size_t columns, size_t depth, ukernel::Rounding rounding)
      : rounding_(rounding), multipliers_(columns), shifts_(columns), scales_(columns), bias_(columns, 1000) {
    for (size_t j = 0; j < columns; ++j) {
      const double wanted = 0.01 / (std::sqrt(static_cast<double>(depth)) + static_cast<double>(j % 7));
      int exponent;
      const double fraction = std::frexp(wanted, &exponent);
      multipliers_[j] = static_cast<int32_t>(std::ldexp(fraction, 31));
      shifts_[j] = static_cast<int8_t>(exponent);
      scales_[j] = static_cast<float>(wanted);
    }
  }

  // The requantization of the columns from `column` on.
  [[nodiscard]] ukernel::Requantization from(size_t column) const {
    ukernel::Requantization to;
    to.rounding = rounding_;
    to.multipliers = multipliers_.data() + column;
    to.shifts = shifts_.data() + column;
    to.scales = scales_.data() + column;
    to.step = 1;
    to.zero_point = -5;
    return to;
  }
  [[nodiscard]] const int32_t* bias() const { return bias_.data(); }

  static const char* name(ukernel::Rounding rounding) {
    if (rounding == ukernel::Rounding::kFloat) return ", float";
    return rounding == ukernel::Rounding::kDouble ? ", double" : ", single";
  }

 private:
  ukernel::Rounding rounding_;
  std::vector<int32_t> multipliers_;
  std::vector<int8_t> shifts_;
  std::vector<float> scales_;
  std::vector<int32_t> bias_;
};

}  // namespace rushlight::bench
