// SPDX-License-Identifier: BSD-3-Clause
// Gathers strided rows of float32 and pads them with zeros: the rows of a convolution's im2col matrix.
//
//   to[i * to_stride + j] = 0                                           for j < before
//                         = from[i * from_stride + (j - before) * step] for before <= j < before + count
//                         = 0                                           for the next `after` elements
//
// for i < rows. Memory: accesses only these elements; alignment of float; the arrays do not overlap. Steps 1
// and 2, the usual strides of convolutions, use vectors, others scalar loads; step 2 reads no element after
// the last one that it keeps.
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
