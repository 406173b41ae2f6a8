// SPDX-License-Identifier: BSD-3-Clause
// Interpolation: a value between the elements of a volume is a weighted sum of neighbours, along each of
// the three dimensions.
#pragma once

#include <cstddef>

#include "kernels/elements/held_access.h"
#include "kernels/geometry/spatial.h"

namespace rushlight::kernels {

// Numbers are computed in W: float or double.
template <class W>
struct Taps {
  ptrdiff_t count;
  ptrdiff_t offset[4];  // in bytes; below 0 where there is nothing, which counts as 0
  W weight[4];
};

// The only element of a dimension.
template <class W>
constexpr Taps<W> single_tap() {
  return {1, {0}, {W(1)}};
}

// Weights of a position that is `fraction` of the way from one element to the next: of these two, and
// of the one before and the one after them.
template <class W>
void linear_weights(W fraction, W* weight);
template <class W>
void cubic_weights(W fraction, W* weight);

// Images of integers are rounded after each dimension, as PyTorch does.
enum class Rounding : uint8_t { kNone, kToBytes };

// A sum rounded to what uint8 holds.
template <class W>
W round_to_byte(W value);

// PyTorch weighs bytes in fixed point: the number of steps from 0 to 1 for weights of which `largest` is
// the largest.
double byte_weight_levels(double largest);

// The weighted sum around `at`. `taps` are those of the three dimensions, the innermost last.
template <class W>
W weighted_sum(const Taps<W>* taps, const char* at, const Access<W>& access, Rounding rounding);

}  // namespace rushlight::kernels
