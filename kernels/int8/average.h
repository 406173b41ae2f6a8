// SPDX-License-Identifier: BSD-3-Clause
// Means and average pools of int8, some lines of the output at a time, so that callers can divide them among
// threads. Adjacent results are summed together on the stack: channels if those are adjacent, otherwise
// windows of a row.
#pragma once

#include <cstddef>

#include "kernels/backs/quantized_average.h"

namespace rushlight::kernels {

// Number of lines of the output: all dimensions except the innermost.
[[nodiscard]] size_t lines_of(const QuantizedMeanProblem& problem);
// Number of rows of all planes; with adjacent channels a row has all channels.
[[nodiscard]] size_t lines_of(const QuantizedAveragePoolProblem& problem);

// Computes lines [begin, end). Precondition: as the problem structs say.
void average_int8(const QuantizedMeanProblem& problem, size_t begin, size_t end);
void average_int8(const QuantizedAveragePoolProblem& problem, size_t begin, size_t end);

}  // namespace rushlight::kernels
