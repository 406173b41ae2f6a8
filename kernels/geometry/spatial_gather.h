// SPDX-License-Identifier: BSD-3-Clause
// Gather along spatial dimensions: every output copies one input, and each dimension maps output positions to
// input positions independently.
#pragma once

#include <cstddef>

#include "kernels/geometry/spatial.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// One dimension; a GatheredPosition reads the fields that it needs.
struct GatheredAxis {
  ptrdiff_t in;      // size of the input
  ptrdiff_t out;     // size of the output
  ptrdiff_t before;  // output positions before the first input
  float scale;       // inputs from one output to the next
};

// Input position of output `index` along one dimension.
using GatheredPosition = ptrdiff_t (*)(const GatheredAxis& axis, ptrdiff_t index);

// Fills `out`, which has its shape. `axes` has kVolume entries. Precondition: `position` returns positions
// inside the input. Cost: one strided copy of all channels for each output position. The tensors have one
// dtype; elements are moved by size.
void gather_positions(const Tensor& self, const Tensor& out, size_t spatial, const GatheredAxis* axes,
                      GatheredPosition position);

}  // namespace rushlight::kernels
