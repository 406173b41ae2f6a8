// SPDX-License-Identifier: BSD-3-Clause
// Distances between rows, for cdist and pdist. Differences are summed pairwise.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// A row, and `count` rows whose distances to it are computed. Steps in bytes, so rows may be strided or
// columns of another layout.
struct RowPairs {
  const char* a;
  ptrdiff_t a_step;
  const char* b;
  ptrdiff_t b_step;
  ptrdiff_t size;
  ptrdiff_t count;
  ptrdiff_t b_next;  // from one row of b to the next
};

// Writes the p-norms of the differences to `results`, result_step bytes apart: p = 0 counts different
// elements, infinite p is the largest difference, which ignores NaN as in PyTorch. Everything has dtype
// `type`, which must be selected. Dtypes other than float32 are computed in double and rounded once.
void write_distances(const RowPairs& rows, double p, ScalarType type, char* results, ptrdiff_t result_step);

}  // namespace rushlight::kernels
