// SPDX-License-Identifier: BSD-3-Clause
// The scale of a mean: one scale divided by the number of elements; softmax divides by its sum. Dividing at
// run time needs no table of scales for windows at borders and dynamic sizes. It costs a division whenever
// the number changes.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"

namespace rushlight::kernels {

// Caches the last quotient, so equal counts in succession cost nothing. One object for each thread.
class DividedScale {
 public:
  // Precondition: `to` has one scale for all columns. Keeps a reference to it.
  explicit DividedScale(const ukernel::Requantization& to);
  // Not copyable, because divided_ points into the object.
  DividedScale(const DividedScale&) = delete;
  DividedScale& operator=(const DividedScale&) = delete;

  // The requantization with the scale divided by `count`, which is in [1, INT64_MAX], or [1, INT32_MAX] for
  // float32 scales. Valid until the next call. A fixed-point multiplier becomes floor(multiplier * 2^32 /
  // upper 31 bits of count), rounded to its upper 31 bits, halves up; 0 if the shift would be below
  // kLeastShift. A float32 scale is divided in float32, and is at least the smallest normal value.
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
