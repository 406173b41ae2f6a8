// SPDX-License-Identifier: BSD-3-Clause
// A copy of a requantization with one scale. The copy stays as proven, even if a program plans `out` over the
// tensors that hold the scale. Such an overlap would otherwise let results change the scale of later results.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"

namespace rushlight::kernels {

// Copies the first scale of `to`, or the first multiplier and shift; get() refers to this object.
class OneScale {
 public:
  explicit OneScale(const ukernel::Requantization& to) : to_(to) {
    if (to.rounding == ukernel::Rounding::kFloat) {
      scale_ = *to.scales;
      to_.scales = &scale_;
    } else {
      multiplier_ = *to.multipliers;
      shift_ = *to.shifts;
      to_.multipliers = &multiplier_;
      to_.shifts = &shift_;
    }
    // Step 0: every column uses the one scale.
    to_.step = 0;
  }
  // Not copyable, because to_ points into the object.
  OneScale(const OneScale&) = delete;
  OneScale& operator=(const OneScale&) = delete;

  [[nodiscard]] const ukernel::Requantization& get() const { return to_; }

 private:
  ukernel::Requantization to_;
  int32_t multiplier_ = 0;
  int8_t shift_ = 0;
  float scale_ = 1;
};

}  // namespace rushlight::kernels
