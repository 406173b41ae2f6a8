// SPDX-License-Identifier: BSD-3-Clause
// Separable interpolation: a value between the elements of a volume is a weighted sum of neighbors along each
// of three dimensions. For grid_sample and the resampling operators in portable code.
#pragma once

#include <cstddef>

#include "kernels/elements/held_access.h"
#include "kernels/geometry/spatial.h"

namespace rushlight::kernels {

// Neighbors and weights along one dimension, computed in W (float or double). Up to four, for cubic
// interpolation.
template <class W>
struct Taps {
  ptrdiff_t count;
  ptrdiff_t offset[4];  // in bytes; negative: outside, counts as 0
  W weight[4];
};

// The only element of a dimension of size 1.
template <class W>
constexpr Taps<W> single_tap() {
  return {1, {0}, {W(1)}};
}

// Weights for a position `fraction` of the way from one element to the next: of these two (linear), or of
// four, from the one before to the one after (cubic convolution with a = -0.75, as in PyTorch). They sum to
// 1. Reference: Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981.
template <class W>
void linear_weights(W fraction, W* weight);
template <class W>
void cubic_weights(W fraction, W* weight);

// kToBytes rounds after each dimension, as PyTorch does for integer images.
enum class SumRounding : uint8_t { kNone, kToBytes };

// Rounds a sum to the range of uint8: halves up, clamped to [0, 255].
template <class W>
W round_to_byte(W value);

// PyTorch weights uint8 images in fixed point: the scale, a power of two up to 2^22, for which weights of at
// most `largest` fit in int16.
double byte_weight_levels(double largest);

// The weighted sum around `at`. `taps` has one entry for each dimension, the innermost last. Cost: the
// product of the three counts. Neighbors outside (negative offsets) count as 0.
template <class W>
W weighted_sum(const Taps<W>* taps, const char* at, const Access<W>& access, SumRounding rounding);

}  // namespace rushlight::kernels
