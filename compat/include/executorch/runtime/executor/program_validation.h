// SPDX-License-Identifier: BSD-3-Clause
// Semantic checks of a program whose structure is verified: the tables' offsets and lengths are known to be
// valid. Program::load() calls validate_program() for Verification::InternalConsistency.
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

// Checks dtype, non-negative sizes, that the dim order is a permutation of as many dimensions as there are
// sizes (at most 16), and that the size in bytes does not overflow. Error: InvalidProgram (logs the reason),
// also for null.
ET_NODISCARD Error validate_tensor(const executorch_flatbuffer::Tensor* tensor);

// Checks all tensors of all methods, and that items of tensor lists are tensors. Tensors of dynamic shape
// that are inputs are not checked: their sizes are set later, by set_input(). Stops at the first finding.
// Costs one pass over all values, without heap. Error: InvalidProgram (logs the reason), also for null.
ET_NODISCARD Error validate_program(const executorch_flatbuffer::Program* program);

}  // namespace executorch::runtime
