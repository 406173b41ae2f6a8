// SPDX-License-Identifier: BSD-3-Clause
// Prints a shape, "(2, 3)", into an array on the stack, for messages on targets without a heap:
//
//   ET_LOG(Error, "shape: %s", tensor_shape_to_c_string(sizes).data());
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/span.h>

#include "compat/detail/tensor_mode.h"

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// Parentheses and a zero byte; ten digits and a separator of two characters per dimension. Holds every shape.
constexpr size_t kTensorShapeStringSizeLimit = 1 + 10 * kTensorDimensionLimit + 2 * kTensorDimensionLimit + 1;

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace executorch::runtime::internal RUSHLIGHT_TENSOR_MODE {
// Larger sizes are printed as BIG, so that the array has a fixed length.
constexpr size_t kMaximumPrintableTensorShapeElement = std::numeric_limits<int32_t>::max();
}  // namespace executorch::runtime::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// The text with its zero byte. A negative size is printed as ERR, one above INT32_MAX as BIG, and a shape of
// more than kTensorDimensionLimit dimensions as "(ERR: tensor ndim exceeds limit)".
std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(Span<const std::int32_t> shape);
std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(Span<const std::int64_t> shape);

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE
