// SPDX-License-Identifier: BSD-3-Clause
// Distances between rows, for cdist and pdist. Differences are summed pairwise.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// Two rows of elements; steps in bytes, so rows may be strided or columns of another layout.
struct RowPair {
  const char* a;
  ptrdiff_t a_step;
  const char* b;
  ptrdiff_t b_step;
  ptrdiff_t size;
};

// Writes the p-norm of the difference of two rows to `result`: p = 0 counts different elements, infinite p is
// the largest difference, which ignores NaN as in PyTorch. Everything has dtype `type`, which must be
// selected. Dtypes other than float32 are computed in double and rounded once.
void write_distance(const RowPair& rows, double p, ScalarType type, char* result);

}  // namespace rushlight::kernels
