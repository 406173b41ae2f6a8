// SPDX-License-Identifier: BSD-3-Clause
// Cumulative sums and products along a dimension, in any layout, 64 elements at a time through a buffer on
// the stack.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

enum class Cumulation : uint8_t { kSum, kProduct };

// out[i] = out[i - 1] + self[i] (or *) along dimension `along`. Elements are first converted to the dtype of
// `out`, which is in `types` and not bool; `out` has the shape of `self`. The running value is double for
// float32 and float for 16-bit floats, as in PyTorch; integers wrap. InvalidType.
Error cumulate(TypeSet types, Cumulation cumulation, const Tensor& self, size_t along, const Tensor& out);

}  // namespace rushlight::kernels
