// SPDX-License-Identifier: BSD-3-Clause
// The numbers that a histogram spans.
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct HistogramRange {
  double low;
  double high;

  // From the least to the largest element, where there is one; NaN with a NaN.
  void cover(const Tensor& tensor);

  // Equal bounds go apart by the margin, each. InvalidArgument unless then there is a finite distance from
  // low to high.
  Error widen(double margin);
};

}  // namespace rushlight::kernels
