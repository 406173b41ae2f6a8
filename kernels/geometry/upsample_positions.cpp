// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/upsample_positions.h"

#include "kernels/geometry/taps.h"

namespace rushlight::kernels {

template <class W>
Neighborhood<W> neighborhood(const Resampling& axis, Filter filter, bool align_corners, ptrdiff_t index) {
  const W position = resampled_position<W>(axis, filter, align_corners, index);
  // The weights depend on the fraction only.
  const W floored = std::floor(position);
  Neighborhood<W> around{static_cast<ptrdiff_t>(floored), 2, {}};
  if (filter == Filter::kLinear) {
    linear_weights(position - floored, around.weights);
  } else {
    around.first -= 1;
    around.count = 4;
    cubic_weights(position - floored, around.weights);
  }
  return around;
}

template Neighborhood<float> neighborhood(const Resampling&, Filter, bool, ptrdiff_t);
template Neighborhood<double> neighborhood(const Resampling&, Filter, bool, ptrdiff_t);

Neighborhood<double> byte_neighborhood(const Resampling& axis, Filter filter, bool align_corners,
                                       double levels, ptrdiff_t index) {
  Neighborhood<double> around = neighborhood<double>(axis, filter, align_corners, index);
  double* const weights = around.weights;
  for (ptrdiff_t i = 1; i < around.count; ++i) {
    const ptrdiff_t at = around.first + i;
    // This element is the one before if both are at or beyond the same border.
    if (at > 0 && at < axis.in) continue;
    weights[i] += weights[i - 1];
    weights[i - 1] = 0;
  }
  for (ptrdiff_t i = 0; levels > 0 && i < around.count; ++i) {
    weights[i] = std::round(weights[i] * levels) / levels;
  }
  return around;
}

double byte_levels(const Resampling& axis, Filter filter, bool align_corners) {
  double largest = 0;
  for (ptrdiff_t index = 0; index < axis.out; ++index) {
    const Neighborhood<double> around = byte_neighborhood(axis, filter, align_corners, 0, index);
    for (ptrdiff_t i = 0; i < around.count; ++i) largest = std::max(largest, around.weights[i]);
  }
  return byte_weight_levels(largest);
}

}  // namespace rushlight::kernels
