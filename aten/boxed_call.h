// SPDX-License-Identifier: BSD-3-Clause
// Calls operators of PyTorch with arguments of the runtime, from their schemas.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::aten {

// An operator of PyTorch: its signature as the loader compares it with programs (runtime/kernel/boxing.h),
// and a boxed call. Calls may run on several threads at once.
class BoxedCall {
 public:
  using Function = std::function<void(torch::jit::Stack&)>;

  // The operator `name` ("aten::add.out") of kernels registered with RL_ATEN_KERNEL, or none.
  static std::optional<BoxedCall> find_custom(const std::string& name);
  // The operator of PyTorch's dispatcher, or none: it has no kernel for the CPU, or takes kinds of arguments
  // that programs do not have. Without "add.out", or "add.Tensor_out", it is the functional "add" or
  // "add.Tensor", whose results follow the arguments. Throws what PyTorch throws.
  static std::optional<BoxedCall> find(const std::string& name);

  // One character per argument, then one per result that is not an argument.
  [[nodiscard]] const std::string& signature() const { return signature_; }
  // True if the operator writes to an argument that it also reads.
  [[nodiscard]] bool writes_inputs() const { return writes_inputs_; }

  // Calls the operator and stores what it wrote or returned in the written arguments, which are resized.
  // Nothing is copied if it wrote in place. Precondition: check_kinds() accepts the arguments for the
  // signature. Errors, each logged with PyTorch's message: InvalidArgument (a shape or value that PyTorch
  // refuses, or a result that does not fit its tensor), InvalidType, NotSupported, MemoryAllocationFailed,
  // Internal. Throws nothing.
  Error operator()(const char* name, EValue* const* arguments) const noexcept;

 private:
  static std::optional<BoxedCall> make(const c10::FunctionSchema& schema, Function function);

  Error store(const torch::jit::Stack& results, const torch::jit::Stack& written,
              EValue* const* arguments) const;

  std::string signature_;
  std::vector<c10::TypeKind> kinds_;  // of the schema's arguments
  size_t num_parameters_ = 0;         // of the schema; results that are not arguments follow
  bool writes_inputs_ = false;
  Function function_;
};

}  // namespace rushlight::aten
