// SPDX-License-Identifier: BSD-3-Clause
// Positions of the elements of a resampled image in the original, rounded as PyTorch does. Each is computed
// in the precision that PyTorch uses, since another rounding may select another neighbor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/geometry/spatial_gather.h"
#include "kernels/geometry/upsample.h"

namespace rushlight::kernels {

// Computed in float for every dtype: rounding decides between two equally near inputs. The minimum guards
// against an input size that float rounds up.
inline ptrdiff_t nearest_position(const GatheredAxis& axis, float at) {
  const float position = std::floor(at * axis.scale);
  return position < static_cast<float>(axis.in) ? std::min(static_cast<ptrdiff_t>(position), axis.in - 1)
                                                : axis.in - 1;
}

// For images PyTorch ignores the factor if the size stays or doubles.
inline Resampling nearest_of_image(Resampling dimension) {
  if (dimension.out == dimension.in || dimension.out == 2 * dimension.in) dimension.factor = 0;
  return dimension;
}

// The axis of nearest-neighbor resampling, for gather_positions().
inline GatheredAxis nearest_axis(const Resampling& dimension) {
  return {dimension.in, dimension.out, 0, dimension.scale<float>()};
}

enum class Filter : uint8_t { kLinear, kCubic };

// The position of output `index` in the input, as a real value. kLinear clamps at 0; both are limited to
// `in`. With align_corners the first and last elements of both coincide, otherwise the outer edges of the
// elements do.
template <class W>
W resampled_position(const Resampling& dimension, Filter filter, bool align_corners, ptrdiff_t index) {
  const auto at = static_cast<W>(index);
  if (filter == Filter::kLinear && dimension.in == dimension.out) return at;
  W position = 0;
  if (!align_corners) {
    position = (at + W(0.5)) * dimension.scale<W>() - W(0.5);
  } else if (dimension.out > 1) {
    position = at * (static_cast<W>(dimension.in - 1) / static_cast<W>(dimension.out - 1));
  }
  // Also catches NaN and infinity from extreme factors.
  const W last = static_cast<W>(dimension.in);
  if (!(position < last)) return last;
  return filter == Filter::kLinear && position < 0 ? W(0) : position;
}

// The two (linear) or four (cubic) inputs around an output, from `first` on, and their weights, which sum
// to 1. `first` may be outside; there the border repeats.
template <class W>
struct Neighborhood {
  ptrdiff_t first;
  ptrdiff_t count;
  W weights[4];
};
template <class W>
Neighborhood<W> neighborhood(const Resampling& axis, Filter filter, bool align_corners, ptrdiff_t index);

// The same for uint8 images, as PyTorch computes them: in double, and the weights of a repeated element are
// summed. Rounded to multiples of 1 / levels, a power of two, so that products with bytes are exact in float;
// not rounded if `levels` is 0.
Neighborhood<double> byte_neighborhood(const Resampling& axis, Filter filter, bool align_corners,
                                       double levels, ptrdiff_t index);

// The levels of an axis, from the largest weight of any output: a pass over all of them.
double byte_levels(const Resampling& axis, Filter filter, bool align_corners);

}  // namespace rushlight::kernels
