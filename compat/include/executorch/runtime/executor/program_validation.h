// SPDX-License-Identifier: BSD-3-Clause
// Checks on parts of a program file. rushlight proves a whole program when it is loaded, so that there is
// nothing left to find.
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

// Error: InvalidProgram for none.
ET_NODISCARD inline Error validate_tensor(const executorch_flatbuffer::Tensor* tensor) {
  return tensor == nullptr ? Error::InvalidProgram : Error::Ok;
}
ET_NODISCARD inline Error validate_program(const executorch_flatbuffer::Program* program) {
  return program == nullptr ? Error::InvalidProgram : Error::Ok;
}

}  // namespace executorch::runtime
