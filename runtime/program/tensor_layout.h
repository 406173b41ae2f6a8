// SPDX-License-Identifier: BSD-3-Clause
// The memory layout of a tensor that a file describes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

// Created by make_tensor_layout(). The spans point into the file.
struct TensorLayout {
  ScalarType scalar_type;
  Span<const int32_t> sizes;
  Span<const uint8_t> dim_order;  // as many entries as sizes
  size_t nbytes;
};

// Verifies a layout from a file: known dtype, at most kTensorDimensionLimit dimensions, no negative size, a
// size in bytes that fits, and a dim order that is a permutation. An empty `dim_order` means row-major.
// Error: InvalidArgument; `what` names the tensor in its message.
[[nodiscard]] Result<TensorLayout> make_tensor_layout(int8_t scalar_type, Span<const int32_t> sizes,
                                                      Span<const uint8_t> dim_order, const char* what);

}  // namespace rushlight
