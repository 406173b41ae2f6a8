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

#include "runtime/backend/backend.h"
#include "runtime/backend/delegates.h"
#include "runtime/base/result.h"
#include "runtime/executor/method_values.h"
#include "runtime/executor/prepare_support.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/memory/memory_manager.h"
#include "runtime/program/layout.h"
#include "runtime/program/method_meta.h"
#include "runtime/program/program.h"
#include "runtime/tensor/evalue.h"
#include "runtime/trace/scope.h"

namespace rushlight {

class Method;

// Asked from time to time whether to go on, by methods that are loaded and executed, so that a person or a
// server can stop what takes too long. Methods that run on several threads at once ask on each of them.
class Interrupt {
 public:
  // Any error ends what the method does, with that error. `*next` is how many instructions it may run before
  // it asks again, at least 1.
  virtual Error poll(uint64_t* next) = 0;

 protected:
  ~Interrupt() = default;
};

// What a method may use besides memory and operators; everything outlives it.
struct MethodOptions {
  const BackendTable* backends = nullptr;
  // Data outside the program, by name: of tensors, and for backends.
  const NamedDataMap* external_data = nullptr;
  // Told of loading and execution, in builds with EXECUTORCH_ENABLE_EVENT_TRACER.
  EventTracer* tracer = nullptr;
  // Instructions that one execute() may run, so that no program runs for ever; 0: no bound.
  uint64_t instruction_budget = 0;
  // Null: nobody stops it. Not asked in builds without RUSHLIGHT_LIMITS, which boards are.
  Interrupt* interrupt = nullptr;
  // What kernels may share their work with; null: nothing.
  ThreadPool* threads = nullptr;
  // For backends with memory of their own; null: they take it uncounted.
  BackendHost* host = nullptr;
};

class Method : private Traced {
 public:
  // Proves all indices, shapes, ranges and argument kinds of the method, finds its operators in
  // `operators`, and lays its values out in memory.method. `program` and all memory outlive it.
  // Errors: NotFound (method, backend, external data), InvalidProgram, OperatorMissing (each is
  // logged), MemoryAllocationFailed (an arena or planned buffer is too small), NotSupported,
  // InvalidExternalData (another shape or dtype than the program's), or what a backend returned.
  [[nodiscard]] static Result<Method> load(const Program& program, const char* name,
                                           const MemoryManager& memory, const OperatorTable& operators,
                                           const MethodOptions& options = {});

  Method(Method&& other) noexcept;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  Method& operator=(Method&&) = delete;
  ~Method();

  [[nodiscard]] MethodMeta meta() const { return MethodMeta(plan_); }

  // Gives input `index` its value. A tensor has the dtype and dim order of the program's; its shape
  // may be smaller where the program has a dynamic one. A planned input is copied, another is used
  // in place and must stay alive. A number must equal the one the program was exported with.
  // Errors: InvalidArgument (index, shape, number), InvalidType (kind, dtype).
  Error set_input(size_t index, const EValue& value);

  // Memory for an output tensor that the program left unplanned.
  // Errors: InvalidArgument (index, too few bytes), InvalidType (no tensor), InvalidState (planned).
  Error set_output_buffer(size_t index, Span<uint8_t> memory);

  // The value of input `index`, as set_input() last left it. index < meta().num_inputs().
  [[nodiscard]] const EValue& input(size_t index) const;

  // The value of output `index` after execute(). index < meta().num_outputs().
  [[nodiscard]] const EValue& output(size_t index) const;

  // Value number `index` of the plan, which is a tensor, for whoever reads the plan through meta().
  [[nodiscard]] Tensor tensor(size_t index) const {
    return is_compact() ? values_.tensor(index) : values_.places().kept[index].to_tensor();
  }

  // What its kernels ask for, none of whose tensors get larger than they are now: the most scratch that a
  // call takes, and the memory for what prepare() makes, without what is in `shared` already (may be null).
  // Both take preparing_bytes() of temporary memory; with less nothing is prepared. `needs` is new, with
  // limits if there are some. Errors: what a kernel says of its arguments, and what the interrupt returned.
  Error measure(const PreparedWeights* shared, Preparation* needs) {
    needs->shared = shared;
    return prepare_support_ == nullptr ? Error::Ok : prepare_support_->measure(*this, needs);
  }
  // Has kernels prepare their constants in `weights`, which outlives the method, and runs calls that copy or
  // convert constants for the last time; load() does so, where it is given memory for that. What does
  // not fit is not prepared. Errors: as measure().
  Error prepare(PreparedWeights* weights) {
    return prepare_support_ == nullptr ? Error::Ok : prepare_support_->prepare(*this, weights);
  }
  [[nodiscard]] size_t preparing_bytes() const;
  // Whether some of its constants live no longer than the method, data files' that had to be copied. What is
  // prepared of them must not serve another method.
  [[nodiscard]] bool owns_constants() const;

  // Runs all instructions. Errors: InvalidState (an input or output without memory), OutOfResources
  // (the instruction budget is used up), or what a kernel, a backend or the interrupt returned; the method
  // may be executed again.
  Error execute();

  // The call at which the last execute() failed: its instruction, as its chain counts them, and the kernel,
  // null of a delegate's. instruction is kNoInstruction where it did not fail, or not in a call. Hosts know
  // it, boards have a failure record (base/failure.h).
  static constexpr size_t kNoInstruction = SIZE_MAX;
  struct FailedCall {
    size_t instruction = kNoInstruction;
    const KernelEntry* kernel = nullptr;
  };
  [[nodiscard]] const FailedCall& failed_call() const { return failed_call_; }

 private:
  class Loader;
  friend class MethodPreparer;

  Method(flatbuffer::Table plan, Arena* temporary, const MethodOptions& options)
      : Traced(options.tracer),
        plan_(plan),
        temporary_(temporary),
        threads_(options.threads),
        interrupt_(options.interrupt),
        instruction_budget_(options.instruction_budget) {}

  Error execute_chains();
  // Instructions that may still run: before the interrupt is asked again, and after that.
  struct Budget {
    uint64_t left;
    uint64_t slice;
  };
  // One more is about to run.
  Error count_instruction(Budget* budget, size_t at) {
    return budget->slice-- != 0 ? Error::Ok : begin_slice(budget, at);
  }
  Error begin_slice(Budget* budget, size_t at);
  Error execute_chain(size_t index, flatbuffer::Table chain, Budget* budget);
  Error call_kernel(const flatbuffer::FieldPair& call, size_t number);
  // Whether the instruction's call was run when the method was loaded.
  [[nodiscard]] bool is_folded(size_t number) const;
  [[nodiscard]] size_t num_values() const;
  [[nodiscard]] size_t num_planned() const;  // tensors in planned memory
  // The number of a chain's first instruction, counted through all chains; of the one after the last: of all.
  [[nodiscard]] size_t first_instruction(size_t chain) const;
  Error call_delegate(const flatbuffer::FieldPair& call);
  Span<EValue* const> gather(const flatbuffer::FieldPair& call);
  Error check_inputs() const;
  void forget_views();
  // See runtime/program/layout.h; known to be false where no method is.
  [[nodiscard]] bool is_compact() const { return kCompact && values_.places().kept == nullptr; }
  // Where the value of an input or output is.
  [[nodiscard]] EValue& input_value(size_t index) const;
  [[nodiscard]] EValue& output_value(size_t index) const;
  void trace_outputs() const;

  flatbuffer::Table plan_;
  Arena* temporary_;
  ThreadPool* threads_;
  Interrupt* interrupt_;
  // For each instruction, through all chains; itself for one that is folded; null: nothing is.
  const void** prepared_ = nullptr;
  uint64_t instruction_budget_;
  MethodValues values_;
  EValue* ends_ = nullptr;  // of a compact method: inputs, then outputs
  size_t num_tensors_ = 0;
  const PrepareSupport* prepare_support_ = nullptr;    // null where nothing is prepared
  const KernelEntry** kernels_ = nullptr;              // one for each entry of the plan's operator list
  EValue** arguments_ = nullptr;                       // as many as the longest argument list has
  const DelegateSupport* delegate_support_ = nullptr;  // null without delegates
  DelegateList delegates_;
  FreeableBuffer* external_data_ = nullptr;
  size_t num_external_data_ = 0;  // that have been loaded
  bool memory_changes_ = false;   // some tensors get their memory, or another's, while running
  FailedCall failed_call_;
};

}  // namespace rushlight
