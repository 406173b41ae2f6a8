// SPDX-License-Identifier: BSD-3-Clause
// How a tensor that a file describes lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

// The spans point to where they were read from. Made by make_tensor_layout.
struct TensorLayout {
  ScalarType scalar_type;
  Span<const int32_t> sizes;
  Span<const uint8_t> dim_order;  // as many entries as sizes
  size_t nbytes;
};

// Proves a layout that a file gives: a known dtype, sizes of which none is negative and whose product in
// bytes fits, at most kTensorDimensionLimit of them, an order that is a permutation of the dimensions. An
// order that the file leaves out is row major.
// Error: InvalidArgument; `what` names the tensor in its message.
[[nodiscard]] Result<TensorLayout> make_tensor_layout(int8_t scalar_type, Span<const int32_t> sizes,
                                                      Span<const uint8_t> dim_order, const char* what);

}  // namespace rushlight
