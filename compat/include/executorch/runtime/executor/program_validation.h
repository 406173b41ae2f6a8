// SPDX-License-Identifier: BSD-3-Clause
// Checks on the tables of a program whose structure is proven: on what they mean.
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

// Whether it has a dtype, sizes of at least 0, a dim order of them, and no more bytes than there are
// addresses. Error: InvalidProgram, with what is wrong.
ET_NODISCARD Error validate_tensor(const executorch_flatbuffer::Tensor* tensor);

// Whether all tensors of all methods are tensors (of dynamic inputs the sizes come later), and items of lists
// of tensors are tensors. Error: InvalidProgram, with what is wrong.
ET_NODISCARD Error validate_program(const executorch_flatbuffer::Program* program);

}  // namespace executorch::runtime
