// SPDX-License-Identifier: BSD-3-Clause
// Semantic checks of a program whose structure is verified.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch_flatbuffer {
struct ExecutionPlan;
struct Program;
struct Tensor;
struct TensorList;
}  // namespace executorch_flatbuffer

namespace executorch::runtime {

// Checks dtype, non-negative sizes, dim order, and that the size in bytes does not overflow. Error:
// InvalidProgram (logs the reason).
ET_NODISCARD Error validate_tensor(const executorch_flatbuffer::Tensor* tensor);

// Checks all tensors of all methods (sizes of dynamic inputs are set later), and that items of tensor lists
// are tensors. Error: InvalidProgram (logs the reason).
ET_NODISCARD Error validate_program(const executorch_flatbuffer::Program* program);

}  // namespace executorch::runtime
