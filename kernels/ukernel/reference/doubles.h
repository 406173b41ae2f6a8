// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/doubles.h in long double, for tests. Columns are spans with a stride.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace rushlight::ukernel::reference {

// The values of a column, or of a span with stride 1.
inline std::vector<long double> column_f64(size_t n, ptrdiff_t stride, const double* x) {
  std::vector<long double> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = x[static_cast<ptrdiff_t>(i) * stride];
  return values;
}

inline long double sum_f64(size_t n, ptrdiff_t stride, const double* x) {
  long double sum = 0;
  for (const long double value : column_f64(n, stride, x)) sum += value;
  return sum;
}

inline long double squares_f64(size_t n, ptrdiff_t stride, const double* x, double mean) {
  long double sum = 0;
  for (const long double value : column_f64(n, stride, x)) sum += (value - mean) * (value - mean);
  return sum;
}

// The largest or smallest element; NaN if an element is NaN. n > 0.
inline double best_f64(bool largest, size_t n, ptrdiff_t stride, const double* x) {
  double best = x[0];
  for (const long double value : column_f64(n, stride, x)) {
    const auto each = static_cast<double>(value);
    if (std::isnan(each) || (largest ? each > best : each < best)) best = each;
  }
  return best;
}

inline std::vector<long double> softmax_f64(bool logarithm, size_t n, ptrdiff_t stride, const double* x) {
  std::vector<long double> y = column_f64(n, stride, x);
  long double largest = y[0];
  for (const long double value : y) largest = value > largest ? value : largest;
  long double sum = 0;
  for (const long double value : y) sum += std::exp(value - largest);
  for (long double& value : y) {
    value = logarithm ? value - largest - std::log(sum) : std::exp(value - largest) / sum;
  }
  return y;
}

}  // namespace rushlight::ukernel::reference
