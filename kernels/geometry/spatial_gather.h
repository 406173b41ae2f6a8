// SPDX-License-Identifier: BSD-3-Clause
// Volumes whose elements are copies of another's: each spatial dimension says for itself which position
// an output position takes.
#pragma once

#include <cstddef>

#include "kernels/geometry/spatial.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct GatheredAxis {
  ptrdiff_t in;  // sizes
  ptrdiff_t out;
  ptrdiff_t before;  // how many positions come before the input's first
  float scale;       // the distance of two outputs, in inputs
};

using GatheredPosition = ptrdiff_t (*)(const GatheredAxis& axis, ptrdiff_t index);

// Fills `out`, which has its shape. `axes` are those of a volume, and `position` is within the input.
void gather_positions(const Tensor& self, const Tensor& out, size_t spatial, const GatheredAxis* axes,
                      GatheredPosition position);

}  // namespace rushlight::kernels
