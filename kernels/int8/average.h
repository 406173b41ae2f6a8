// SPDX-License-Identifier: BSD-3-Clause
// Means and average pools of int8, some lines of the output at a time. Results that lie side by side are
// computed together, by way of sums on the stack: channels where those adjoin, otherwise windows of a row.
#pragma once

#include <cstddef>

#include "kernels/backs/quantized_average.h"

namespace rushlight::kernels {

// Lines of the output: all but its innermost dimension.
[[nodiscard]] size_t lines_of(const QuantizedMeanProblem& problem);
// Rows of all planes, or of the one that has all channels.
[[nodiscard]] size_t lines_of(const QuantizedAveragePoolProblem& problem);

// Computes lines [begin, end).
void average_int8(const QuantizedMeanProblem& problem, size_t begin, size_t end);
void average_int8(const QuantizedAveragePoolProblem& problem, size_t begin, size_t end);

}  // namespace rushlight::kernels
