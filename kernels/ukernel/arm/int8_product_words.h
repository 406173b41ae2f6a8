// SPDX-License-Identifier: BSD-3-Clause
// int8_product_rows.h for cores with only 32-bit products: a word for each element of the panel, [depth][4]
// int32. A step of the depth is one LDMIA of four registers, one load of the column's element and four
// multiplications.
//
// The source defines kPanelBytes, kPartDepth, kLeastDepth, Columns, columns_of() and add_columns() before it
// includes this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Fills the panel row by row: panel[k][i] = rows[i][k].
inline void spread(const int8_t* const* rows, size_t depth, int8_t* panel) {
  for (size_t i = 0; i < 4; ++i) {
    int32_t* to = reinterpret_cast<int32_t*>(panel) + i;
    const int8_t* from = rows[i];
    for (const int8_t* end = from + depth; from != end; to += 4) *to = *from++;
  }
}

// One row by pairs of columns: three loads for two products. The last of an odd number of columns is computed
// as both columns of a pair; both sums are equal then, and the order of the stores does not matter. Returns
// the column after the last one. sums[j] += left * column j.
[[gnu::noinline]] inline const int8_t* add_row(const int8_t* left, const int8_t* right,
                                               ptrdiff_t right_stride, size_t depth, int32_t* sums,
                                               size_t columns) {
  const int8_t* end = left + depth;
  for (size_t j = 0; j < columns; j += 2) {
    const size_t last = columns - j < 2 ? 0 : 1;
    const int8_t* first = right;
    right += right_stride;
    const int8_t* second = first;
    if (last != 0) {
      second = right;
      right += right_stride;
    }
    int32_t a = sums[j];
    int32_t b = sums[j + last];
    for (const int8_t* from = left; from != end; ++from) {
      const int32_t number = *from;
      a += number * *first++;
      b += number * *second++;
    }
    sums[j + last] = b;
    sums[j] = a;
  }
  return right;
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_product_rows.h"
