// SPDX-License-Identifier: BSD-3-Clause
// Conversion of rows between float32 and the 16-bit dtypes, for kernels that compute in float32.
#pragma once

#include <cstddef>

#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels::host {

// Converts n elements of type Float, Half or BFloat16 to float. `stride` is in elements. `to` is contiguous;
// contiguous sources use the vector microkernels.
void load_floats(float* to, ScalarType type, const void* from, ptrdiff_t stride, size_t n);
// The reverse; rounds to nearest even.
void store_floats(void* to, ptrdiff_t stride, ScalarType type, const float* from, size_t n);

}  // namespace rushlight::kernels::host
