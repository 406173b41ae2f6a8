// SPDX-License-Identifier: BSD-3-Clause
// Rows of elements as floats, and back: for kernels that compute in float, whatever their tensors have.
#pragma once

#include <cstddef>

#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels::host {

// n elements of type Float, Half or BFloat16, `stride` elements apart.
void load_floats(float* to, ScalarType type, const void* from, ptrdiff_t stride, size_t n);
// Rounds to nearest even.
void store_floats(void* to, ptrdiff_t stride, ScalarType type, const float* from, size_t n);

}  // namespace rushlight::kernels::host
