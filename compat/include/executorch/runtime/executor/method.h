// SPDX-License-Identifier: BSD-3-Clause
// A loaded method: rushlight::Method with the official members, in the memory of a MemoryManager. Its state
// is on the heap, so that moving a Method keeps the addresses of its values.
//
//   auto method = program->load_method("forward", &memory_manager);
//   if (!method.ok()) return method.error();
//   method->set_input(EValue(tensor), 0);
//   method->execute();
//   const EValue& result = method->get_output(0);
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

#include "compat/detail/tensor_mode.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {
class MethodState;
struct MethodAccess;
}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE

namespace executorch::ET_RUNTIME_NAMESPACE {

// Not thread-safe: one thread at a time may use it. Methods of one program are independent, except for memory
// that the application lets them share.
class Method final {
 public:
  explicit Method(std::unique_ptr<rushlight::compat::MethodState> state);  // for Program::load_method
  // The moved-from object may only be destroyed; its functions that return an error return InvalidState.
  Method(Method&& other) noexcept;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  Method& operator=(Method&&) = delete;
  ~Method();

  // Sets an input for the next execution. A tensor must have the dtype, rank and dim order of the program's;
  // a dynamic dimension may be smaller than its bound. Its elements are copied now if the program planned the
  // input's memory; they must be set again before each execution, because the plan may reuse that memory.
  // Otherwise the tensor is used in place, and its memory must stay valid until it is replaced or the last
  // execution has returned. A tensor without memory only sets the shape of a planned input. A number must
  // equal the one of the export, because the graph was specialised for it.
  //
  // Errors: InvalidArgument (index, shape, dim order, number), InvalidType (kind of value, dtype),
  // NotSupported (a string or list), InvalidState (moved from).
  ET_NODISCARD Error set_input(const EValue& input_evalue, size_t input_idx);
  // Sets all inputs in order; stops at the first error, after which earlier ones are set. Errors:
  // InvalidArgument (another number of inputs), or as set_input().
  ET_NODISCARD Error set_inputs(const executorch::aten::ArrayRef<EValue>& input_evalues);
  // Sets the memory of an output tensor that the program left unplanned. `size` in bytes must hold the
  // largest shape; the memory must stay valid as long as the output is written or read. Errors:
  // InvalidArgument (index, size), InvalidType (not a tensor), InvalidState (planned by the program, or moved
  // from).
  ET_NODISCARD Error set_output_data_ptr(void* buffer, size_t size, size_t output_idx);

  // Copies the values of all outputs to `output_evalues`, an array of `length` entries; further entries
  // become None. Elements of tensors are not copied: they stay in the method's memory, and the next execution
  // overwrites them. Error: InvalidArgument (`length` is too small).
  ET_NODISCARD Error get_outputs(EValue* output_evalues, size_t length);
  // The same for inputs, which then count as set, as by get_input().
  ET_DEPRECATED ET_NODISCARD Error get_inputs(EValue* input_evalues, size_t length);

  // Returns a mutable buffer by its fully qualified name in the exported model. The tensor is an alias of the
  // method's memory: writing to it changes the state of the next execution. Searches all values of the
  // method. Error: NotFound (logs the name).
  ET_NODISCARD Result<executorch::aten::Tensor> get_attribute(std::string_view name);

  // Executes the whole method on the calling thread. Outputs are valid until the next execution. After an
  // error the method may be executed again; outputs are then undefined. Resets the temporary allocator.
  // Errors: InvalidArgument (an input was never set), InvalidState (an input or output without memory, or
  // moved from), or as kernels and backends.
  ET_NODISCARD Error execute();

  // Executes the method step by step, in ExecuTorch one instruction a call. Here the whole method is one
  // step: the next call returns EndOfMethod, until reset_execution() or execute(). A step that failed can be
  // repeated. Other errors as execute()'s; in ExecuTorch step() does not check that every input was set.
  ET_EXPERIMENTAL ET_NODISCARD Error step();
  ET_DEPRECATED ET_NODISCARD Error experimental_step();
  // Always false: the one step leaves nothing in progress.
  ET_EXPERIMENTAL ET_NODISCARD bool in_progress() const;
  // Permits the next step(). Error: InvalidState (no step() since the last reset, or moved from).
  ET_EXPERIMENTAL ET_NODISCARD Error reset_execution();
  ET_DEPRECATED ET_NODISCARD Error experimental_reset_execution();

  // Properties of the method in the program; valid as long as the program.
  MethodMeta method_meta() const;
  // The number of values that set_input() and get_output() accept.
  size_t inputs_size() const;
  size_t outputs_size() const;
  // The present value of an output or input, by reference: its contents change with the method. Aborts if the
  // index is out of range. The mutable forms are for tests: replacing a value bypasses the checks of
  // set_input(). An input that was accessed counts as set for execute().
  const EValue& get_output(size_t i) const;
  ET_DEPRECATED const EValue& get_input(size_t i) const;
  ET_DEPRECATED EValue& mutable_input(size_t i);
  ET_DEPRECATED EValue& mutable_output(size_t i);

  // The tracer of load_method(), or null.
  EventTracer* get_event_tracer();

 private:
  friend struct rushlight::compat::MethodAccess;

  std::unique_ptr<rushlight::compat::MethodState> state_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::Method;
}
