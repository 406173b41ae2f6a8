// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/softmax.h in double, for tests. Tests allow 1e-6 of the quotient, and for the
// logarithm 2e-7 of the operands of its difference.
#pragma once

#include <cmath>
#include <cstddef>

namespace rushlight::ukernel::reference {

// One span or column of n elements, `stride` apart, to n doubles. Three passes as in the contract: maximum,
// sum of exponentials, results. NaN is not the maximum but makes the sum NaN; +inf gives inf - inf.
inline void softmax(bool logarithm, size_t n, ptrdiff_t stride, const float* x, double* y) {
  double largest = -HUGE_VAL;
  double sum = 0;
  const auto at = [&](size_t i) { return static_cast<double>(x[static_cast<ptrdiff_t>(i) * stride]); };
  for (size_t i = 0; i < n; ++i) largest = at(i) > largest ? at(i) : largest;
  for (size_t i = 0; i < n; ++i) sum += std::exp(at(i) - largest);
  for (size_t i = 0; i < n; ++i) {
    y[i] = logarithm ? at(i) - largest - std::log(sum) : std::exp(at(i) - largest) / sum;
  }
}

}  // namespace rushlight::ukernel::reference
