// SPDX-License-Identifier: BSD-3-Clause
// A loaded method: rushlight::Method with the official members, in the memory of a MemoryManager.
#pragma once

#include <memory>
#include <string_view>

#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/merged_data_map.h>
#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/compiler.h>

namespace rushlight::compat {
class MethodState;
struct MethodAccess;
}  // namespace rushlight::compat

namespace executorch::ET_RUNTIME_NAMESPACE {

class Method final {
 public:
  explicit Method(std::unique_ptr<rushlight::compat::MethodState> state);  // called by Program::load_method
  Method(Method&& other) noexcept;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  Method& operator=(Method&&) = delete;
  ~Method();

  // A tensor is copied if the program planned the input's memory; otherwise it is used in place. Errors:
  // InvalidArgument (index, shape, number), InvalidType (kind, dtype).
  ET_NODISCARD Error set_input(const EValue& input_evalue, size_t input_idx);
  ET_NODISCARD Error set_inputs(const executorch::aten::ArrayRef<EValue>& input_evalues);
  // Sets the memory of an output that the program left unplanned. Errors: InvalidArgument, InvalidState.
  ET_NODISCARD Error set_output_data_ptr(void* buffer, size_t size, size_t output_idx);

  // Copies all outputs; further entries up to `length` become None. Error: InvalidArgument (`length` is too
  // small).
  ET_NODISCARD Error get_outputs(EValue* output_evalues, size_t length);
  ET_DEPRECATED ET_NODISCARD Error get_inputs(EValue* input_evalues, size_t length);

  // Returns a mutable buffer by name. Error: NotFound.
  ET_NODISCARD Result<executorch::aten::Tensor> get_attribute(std::string_view name);

  // Errors: InvalidArgument (an input was never set), or as kernels and backends.
  ET_NODISCARD Error execute();

  // The whole method is one step: the next call returns EndOfMethod, until reset_execution().
  ET_EXPERIMENTAL ET_NODISCARD Error step();
  ET_DEPRECATED ET_NODISCARD Error experimental_step();
  ET_EXPERIMENTAL ET_NODISCARD bool in_progress() const;
  ET_EXPERIMENTAL ET_NODISCARD Error reset_execution();
  ET_DEPRECATED ET_NODISCARD Error experimental_reset_execution();

  MethodMeta method_meta() const;
  size_t inputs_size() const;
  size_t outputs_size() const;
  // Aborts if the index is out of range.
  const EValue& get_output(size_t i) const;
  ET_DEPRECATED const EValue& get_input(size_t i) const;
  ET_DEPRECATED EValue& mutable_input(size_t i);
  ET_DEPRECATED EValue& mutable_output(size_t i);

  EventTracer* get_event_tracer();

 private:
  friend struct rushlight::compat::MethodAccess;

  std::unique_ptr<rushlight::compat::MethodState> state_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::Method;
}
