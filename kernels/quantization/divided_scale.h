// SPDX-License-Identifier: BSD-3-Clause
// Scales of means: one scale, divided by the number of elements that a mean is of; softmax divides by a sum.
// The division is here and not ahead of time, so that windows of different sizes, at borders, and dynamic
// sizes need no list of scales. It costs one division for each number of elements that follows another one.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"

namespace rushlight::kernels {

class DividedScale {
 public:
  // Of a requantization with one scale for all columns.
  explicit DividedScale(const ukernel::Requantization& to);
  DividedScale(const DividedScale&) = delete;
  DividedScale& operator=(const DividedScale&) = delete;

  // With the scale divided by `count`, 1 to INT64_MAX, to INT32_MAX where the scale is a float32; holds until
  // the next call. A fixed-point multiplier is floor(multiplier * 2^32 / upper 31 bits of count), rounded to
  // its upper 31 bits, halves up; 0 where the shift would be below kLeastShift. A float32 is divided as a
  // float32, to the least normal number at least.
  const ukernel::Requantization& by(int64_t count);

 private:
  const ukernel::Requantization& whole_;
  ukernel::Requantization divided_;
  int64_t count_ = 0;
  int32_t multiplier_ = 0;
  int8_t shift_ = 0;
  float scale_ = 1;
};

}  // namespace rushlight::kernels
