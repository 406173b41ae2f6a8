// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// Two rows of numbers, each with the bytes between its elements.
struct RowPair {
  const char* a;
  ptrdiff_t a_step;
  const char* b;
  ptrdiff_t b_step;
  ptrdiff_t size;
};

// Writes the p-norm of the difference of two rows to `result`, all of `type`, which is in the build.
// All but float32 are computed in double.
void write_distance(const RowPair& rows, double p, ScalarType type, char* result);

}  // namespace rushlight::kernels
