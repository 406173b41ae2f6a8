// SPDX-License-Identifier: BSD-3-Clause
// Prints a shape: "(2, 3)".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/span.h>

namespace executorch::runtime {

// Parentheses and a zero byte; ten digits and a separator of two characters per dimension.
constexpr size_t kTensorShapeStringSizeLimit = 1 + 10 * kTensorDimensionLimit + 2 * kTensorDimensionLimit + 1;

namespace internal {
constexpr size_t kMaximumPrintableTensorShapeElement = std::numeric_limits<int32_t>::max();
}

std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(Span<const std::int32_t> shape);
std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(Span<const std::int64_t> shape);

}  // namespace executorch::runtime
