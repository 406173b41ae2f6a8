// SPDX-License-Identifier: BSD-3-Clause
// Copies rows of float32 whose elements lie at equal steps, between zeros: what a convolution sees of an
// image and of its padding.
//
//   to[i * to_stride + j] = 0                                           for j < before
//                         = from[i * from_stride + (j - before) * step] for before <= j < before + count
//                         = 0                                           for the `after` elements that follow
//
// for i < rows. Nothing else is read or written; no state, no memory, no alignment beyond that of float.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct GatherRows {
  size_t rows = 0;
  size_t before = 0;
  size_t count = 0;
  size_t after = 0;
  const float* from = nullptr;
  ptrdiff_t from_stride = 0;
  ptrdiff_t step = 1;
  float* to = nullptr;
  ptrdiff_t to_stride = 0;
};

RL_UKERNEL(void, gather_rows, (const GatherRows& gather), (gather))

}  // namespace rushlight::ukernel
