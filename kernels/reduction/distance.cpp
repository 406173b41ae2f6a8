// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/distance.h"

#include <algorithm>
#include <cmath>

#include "kernels/elements/element_access.h"
#include "kernels/reduction/sum.h"

namespace rushlight::kernels {

namespace {

// The p-norm of `size` differences; difference(i) is the absolute value of one.
template <class T, class F>
T norm(ptrdiff_t size, T p, F difference) {
  // The limit of the p-norm is the largest difference.
  if (std::isinf(p)) {
    T largest = 0;
    for (ptrdiff_t i = 0; i < size; ++i) {
      const T d = difference(i);
      if (d > largest) largest = d;  // NaN is ignored, as in PyTorch
    }
    return largest;
  }
  // The common values of p need no pow(); 0 counts the differences that are not 0.
  PairwiseSum<T> sum;
  for (ptrdiff_t i = 0; i < size; ++i) {
    const T d = difference(i);
    if (p == 0) {
      sum.add(std::isnan(d) ? d : static_cast<T>(d != 0));
    } else {
      sum.add(p == 1 ? d : (p == 2 ? d * d : std::pow(d, p)));
    }
  }
  const T total = sum.total();
  return p == 0 || p == 1 ? total : (p == 2 ? std::sqrt(total) : std::pow(total, T(1) / p));
}

}  // namespace

void write_distance(const RowPair& rows, double p, ScalarType type, char* result) {
  // The common dtype has a loop of its elements; all others load each element through a switch, in double.
  if (type == ScalarType::Float) {
    *reinterpret_cast<float*>(result) = norm(rows.size, static_cast<float>(p), [&](ptrdiff_t i) {
      return std::abs(*reinterpret_cast<const float*>(rows.a + i * rows.a_step) -
                      *reinterpret_cast<const float*>(rows.b + i * rows.b_step));
    });
    return;
  }
  const double distance = norm(rows.size, p, [&](ptrdiff_t i) {
    return std::abs(load_number(rows.a + i * rows.a_step, type) -
                    load_number(rows.b + i * rows.b_step, type));
  });
  store_number(result, type, distance);
}

}  // namespace rushlight::kernels
