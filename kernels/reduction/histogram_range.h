// SPDX-License-Identifier: BSD-3-Clause
// The value range of a histogram, for histc and histogram operators, in double for every dtype.
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The bounds of the first and the last bin; finite and different after widen().
struct HistogramRange {
  double low;
  double high;

  // Sets the range to the smallest and largest element; NaN if an element is NaN. No elements: unchanged.
  void cover(const Tensor& tensor);

  // Moves equal bounds apart by `margin` on each side. InvalidArgument unless the width is then positive and
  // finite.
  Error widen(double margin);
};

}  // namespace rushlight::kernels
