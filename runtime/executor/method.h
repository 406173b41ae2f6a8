// SPDX-License-Identifier: BSD-3-Clause
// A loaded method: checked and bound once by load(), then run any number of times.
//
//   auto method = Method::load(program, "forward", memory, selected_operators);
//   if (!method.ok()) ...
//   method->set_input(0, EValue(Tensor(&image)));
//   method->execute();
//   Tensor scores = method->output(0).to_tensor();
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/memory/memory_manager.h"
#include "runtime/program/method_meta.h"
#include "runtime/program/program.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

class Method {
 public:
  // Proves all indices, shapes, ranges and argument kinds of the method, finds its operators in
  // `operators`, and lays its values out in memory.method. `program` and all memory outlive it.
  // Errors: NotFound (method, delegate), InvalidProgram, OperatorMissing (each is logged),
  // MemoryAllocationFailed (an arena or planned buffer is too small), NotSupported.
  [[nodiscard]] static Result<Method> load(const Program& program, const char* name,
                                           const MemoryManager& memory, const OperatorTable& operators);

  // Bytes that load() takes from memory.method for this method, on this machine, when the arena
  // starts at a multiple of 8.
  [[nodiscard]] static Result<size_t> arena_size(const MethodMeta& meta);

  [[nodiscard]] MethodMeta meta() const { return MethodMeta(plan_); }

  // Gives input `index` its value. A tensor has the dtype and dim order of the program's; its shape
  // may be smaller where the program has a dynamic one. A planned input is copied, another is used
  // in place and must stay alive. A number must equal the one the program was exported with.
  // Errors: InvalidArgument (index, shape, number), InvalidType (kind, dtype).
  Error set_input(size_t index, const EValue& value);

  // Memory for an output tensor that the program left unplanned.
  // Errors: InvalidArgument (index, too few bytes), InvalidType (no tensor), InvalidState (planned).
  Error set_output_buffer(size_t index, Span<uint8_t> memory);

  // The value of output `index` after execute(). index < meta().num_outputs().
  [[nodiscard]] const EValue& output(size_t index) const;

  // Runs all instructions. Errors: InvalidState (an input or output without memory), or what a
  // kernel returned; the method may be executed again.
  Error execute();

 private:
  class Loader;

  explicit Method(flatbuffer::Table plan, Arena* temporary) : plan_(plan), temporary_(temporary) {}

  Error execute_chain(flatbuffer::Table chain);
  Error call_kernel(flatbuffer::Table call);
  Error check_inputs() const;
  void forget_views();

  flatbuffer::Table plan_;
  Arena* temporary_;
  EValue* values_ = nullptr;
  const KernelEntry** kernels_ = nullptr;  // one for each entry of the plan's operator list
  EValue** arguments_ = nullptr;           // room for the longest argument list
  bool memory_changes_ = false;            // some tensors get their memory, or another's, while running
};

}  // namespace rushlight
