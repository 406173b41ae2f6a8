// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/histogram_range.h"

#include <cmath>

#include "kernels/elements/element_access.h"
#include "runtime/base/log.h"

namespace rushlight::kernels {

void HistogramRange::cover(const Tensor& tensor) {
  const char* at = tensor.const_data_ptr<char>();
  for (size_t i = 0; i < tensor.numel(); ++i, at += tensor.element_size()) {
    const double number = load_number(at, tensor.scalar_type());
    // A NaN replaces both bounds and stays, because comparisons with it are false.
    low = i == 0 || number < low || number != number ? number : low;
    high = i == 0 || number > high || number != number ? number : high;
  }
}

Error HistogramRange::widen(double margin) {
  if (low == high) {
    low -= margin;
    high += margin;
  }
  // Comparisons with NaN are false.
  RL_CHECK(low < high && high - low < HUGE_VAL, Error::InvalidArgument,
           "range: expected finite values, the second not below the first, got %f and %f", low, high);
  return Error::Ok;
}

}  // namespace rushlight::kernels
