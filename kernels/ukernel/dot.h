// SPDX-License-Identifier: BSD-3-Clause
// Products of a few vectors with the rows of a matrix, which is read once and in order: a linear layer for
// one token, with unpacked weights. Each element of B is used once for each vector, so that packing would
// cost more than it saves.
//
//   c[i * c_stride + j] = sum over p < depth of a[i * a_stride + p] * b[j * b_stride + p]
//
// for i < rows, j < columns. Memory: accesses only these elements; alignment of the
// element type, float or double; C overlaps no operand.
// Order: each sum depends only on its two vectors, not on rows, columns or its position among them. A sum has
// one partial sum for each lane of a vector, which are added as in generic/lane_sums.h: variants differ in
// the last bits.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Vectors that share the loads of B. With four columns at a time, a tile has up to 16 vectors of sums.
inline constexpr size_t kDotRows = 4;

template <class T>
struct DotProductsOf {
  size_t rows = 0;  // 1 to kDotRows
  size_t columns = 0;
  size_t depth = 0;
  const T* a = nullptr;
  ptrdiff_t a_stride = 0;
  const T* b = nullptr;
  ptrdiff_t b_stride = 0;
  T* c = nullptr;
  ptrdiff_t c_stride = 0;
};
using DotProducts = DotProductsOf<float>;
using DotProductsF64 = DotProductsOf<double>;

RL_UKERNEL(void, dot_products, (const DotProducts& dots), (dots))
RL_UKERNEL(void, dot_products_f64, (const DotProductsF64& dots), (dots))

}  // namespace rushlight::ukernel
