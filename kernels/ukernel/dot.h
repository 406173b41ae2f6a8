// SPDX-License-Identifier: BSD-3-Clause
// Products of a few vectors with the rows of a matrix, which is read once and in order: a linear layer for
// one token, whose weights are used as they lie.
//
//   c[i * c_stride + j] = sum over p < depth of a[i * a_stride + p] * b[j * b_stride + p]
//
// for i < rows, j < columns. Nothing else is read or written, nothing needs more alignment than a float. Each
// sum depends on its two vectors only, not on rows, columns or its place among them. C overlaps nothing.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr size_t kDotRows = 4;

struct DotProducts {
  size_t rows = 0;  // 1 to kDotRows
  size_t columns = 0;
  size_t depth = 0;
  const float* a = nullptr;
  ptrdiff_t a_stride = 0;
  const float* b = nullptr;
  ptrdiff_t b_stride = 0;
  float* c = nullptr;
  ptrdiff_t c_stride = 0;
};

RL_UKERNEL(void, dot_products, (const DotProducts& dots), (dots))

}  // namespace rushlight::ukernel
