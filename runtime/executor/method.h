// SPDX-License-Identifier: BSD-3-Clause
// A loaded method. load() verifies and binds it once; then it can be executed any number of times. It
// allocates no memory beyond what the MemoryManager provides.
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

// Polled regularly while a method is loaded or executed, so that a user or a server can stop it. A method polls
// on the thread that loads or executes it; several methods may poll one object from several threads at once.
class Interrupt {
 public:
  // An error stops the operation with that error. `*next` receives the number of instructions to execute
  // before the next poll, at least 1.
  virtual Error poll(uint64_t* next) = 0;

 protected:
  ~Interrupt() = default;
};

class WindowExecutor;

// What a thread needs to call kernels of a method.
struct CallFrame {
  MethodValues values;            // with memory of its own for made values and lists
  EValue** arguments = nullptr;   // length of the longest argument list
  Arena* temporary = nullptr;     // scratch of kernels; may be null
  ThreadPool* threads = nullptr;  // for kernels; null means single-threaded
};

// Optional services of a method. Everything that a pointer names must outlive the method.
struct MethodOptions {
  // Backends for the method's delegates.
  const BackendTable* backends = nullptr;
  // Data outside of the program, by key: for external tensors and for backends.
  const NamedDataMap* external_data = nullptr;
  // Observes loading and execution, in builds with EXECUTORCH_ENABLE_EVENT_TRACER.
  EventTracer* tracer = nullptr;
  // Limit of instructions per execute(), which stops endless loops; 0 means no limit.
  uint64_t instruction_budget = 0;
  // Null means that the method cannot be stopped. Ignored in builds without RUSHLIGHT_LIMITS, such as builds
  // for boards.
  Interrupt* interrupt = nullptr;
  // Threads for kernels; null means single-threaded.
  ThreadPool* threads = nullptr;
  // Counts memory that backends allocate; null means uncounted.
  BackendHost* host = nullptr;
};

// One method with its state. Movable. Not thread-safe: one thread at a time may use it.
class Method : private Traced {
 public:
  // Loads method `name`: verifies its indices, shapes, ranges and argument kinds, looks up its operators and
  // backends, and lays its values out in memory.method. `program` and all memory must outlive the method.
  // Missing operators and backends are all logged before load() fails. Errors: NotFound (method, backend,
  // external data), InvalidProgram, OperatorMissing, MemoryAllocationFailed (an arena or planned buffer is
  // too small), NotSupported, InvalidArgument (a planned buffer is not aligned to 16 bytes),
  // InvalidExternalData (shape or dtype differs from the program's), or an error of a backend or kernel.
  [[nodiscard]] static Result<Method> load(const Program& program, const char* name,
                                           const MemoryManager& memory, const OperatorTable& operators,
                                           const MethodOptions& options = {});

  Method(Method&& other) noexcept;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  Method& operator=(Method&&) = delete;
  ~Method();

  // Properties of the method in the program.
  [[nodiscard]] MethodMeta meta() const { return MethodMeta(plan_); }

  // Sets input `index`. A tensor must have the dtype, rank and dim order of the program's input; its shape
  // may be smaller if the program's is dynamic. Elements of a planned input are copied; another input is used
  // in place, so its memory must stay valid until execute() returns. A number must equal the one that the
  // program was exported with. Errors: InvalidArgument (index, shape, dim order, number), InvalidType (kind,
  // dtype), NotSupported (kind).
  Error set_input(size_t index, const EValue& value);

  // Sets the memory of an output tensor that the program left unplanned; it must hold the largest shape.
  // Errors: InvalidArgument (index, too few bytes), InvalidType (not a tensor), InvalidState (planned).
  Error set_output_buffer(size_t index, Span<uint8_t> memory);

  // The current value of input `index`. Precondition: index < meta().num_inputs().
  [[nodiscard]] const EValue& input(size_t index) const;

  // The value of output `index` after execute(). Its memory belongs to the method and changes at the next
  // execution. Precondition: index < meta().num_outputs().
  [[nodiscard]] const EValue& output(size_t index) const;

  // The tensor with value index `index` in the plan, for callers that read the plan through meta().
  [[nodiscard]] Tensor tensor(size_t index) const {
    return is_compact() ? frame_.values.tensor(index) : frame_.values.value_tables().kept[index].to_tensor();
  }

  // Computes what the method's kernels request, for tensors no larger than now: the largest scratch of a
  // call, and the memory for prepare(), excluding entries of `shared` (may be null). Needs preparing_bytes()
  // of temporary memory; with less, nothing is counted as prepared. `needs` must be new; its limits may be
  // set. Errors: as kernels about their arguments, and of the interrupt.
  Error measure(const PreparedWeights* shared, Preparation* needs) {
    needs->shared = shared;
    return prepare_support_ == nullptr ? Error::Ok : prepare_support_->measure(*this, needs);
  }
  // Lets kernels prepare their constants in `weights`, which must outlive the method, and folds calls that
  // copy or convert constants. load() does this if the MemoryManager has `prepared`. Constants that do not
  // fit are used unprepared. Errors: as measure().
  Error prepare(PreparedWeights* weights) {
    return prepare_support_ == nullptr ? Error::Ok : prepare_support_->prepare(*this, weights);
  }
  // Bytes of temporary memory that measure() and prepare() need to find constants.
  [[nodiscard]] size_t preparing_bytes() const;
  // Returns true if some constants (copies from data files) live only as long as the method. Data prepared
  // from them must not be shared with other methods.
  [[nodiscard]] bool owns_constants() const;

  // Number of instructions through all chains.
  [[nodiscard]] size_t num_instructions() const;

  // Executes all instructions. After an error the method may be executed again. Errors: InvalidState (an
  // input or output without memory), OutOfResources (the instruction budget is exhausted), or an error of a
  // kernel, a backend or the interrupt.
  Error execute();

  // The call in which the last execute() failed: the index of its instruction in its chain, and the kernel
  // (null for a delegate). `instruction` is kNoInstruction if nothing failed or the failure was not in a
  // call. Available on hosts; boards have failure records (base/failure.h).
  static constexpr size_t kNoInstruction = SIZE_MAX;
  struct FailedCall {
    size_t instruction = kNoInstruction;
    const KernelEntry* kernel = nullptr;
  };
  [[nodiscard]] const FailedCall& failed_call() const { return failed_call_; }

 private:
  class Loader;
  friend class MethodPreparer;
  friend class MethodCalls;

  Method(flatbuffer::Table plan, Arena* temporary, const MethodOptions& options)
      : Traced(options.tracer),
        plan_(plan),
        interrupt_(options.interrupt),
        instruction_budget_(options.instruction_budget) {
    frame_.temporary = temporary;
    frame_.threads = options.threads;
  }

  Error execute_chains();
  // Instructions that may still execute: after the next poll of the interrupt, and before it.
  struct Budget {
    uint64_t left;
    uint64_t slice;
  };
  // Counts one instruction; called before it executes.
  Error count_instruction(Budget* budget, size_t at) {
    return budget->slice-- != 0 ? Error::Ok : begin_slice(budget, at);
  }
  Error begin_slice(Budget* budget, size_t at);
  Error execute_chain(size_t index, flatbuffer::Table chain, Budget* budget);
  // Calls the kernel of instruction `number`, counted through all chains.
  Error call_kernel(CallFrame& frame, const flatbuffer::FieldPair& call, size_t number);
  // Returns true if the instruction's call was folded at load.
  [[nodiscard]] bool is_folded(size_t number) const;
  // Records and logs that the call of instruction `at` of its chain failed. Returns `error`.
  Error report(Error error, size_t at, const KernelEntry* kernel);
  // Returns the length of the window that begins at instruction `number`, or 0.
  [[nodiscard]] size_t window_at(size_t number) const;
  Error execute_window(size_t number, size_t length, size_t at, Budget* budget);
  [[nodiscard]] size_t num_values() const;
  [[nodiscard]] size_t num_planned() const;  // number of tensors in planned memory
  // Index of a chain's first instruction, counted through all chains; for `chain` = number of chains, the
  // total.
  [[nodiscard]] size_t first_instruction(size_t chain) const;
  Error call_delegate(const flatbuffer::FieldPair& call);
  static Span<EValue* const> gather(CallFrame& frame, const flatbuffer::FieldPair& call);
  Error check_inputs() const;
  void forget_views();
  // See runtime/program/layout.h; constant false on targets without compact methods.
  [[nodiscard]] bool is_compact() const { return kCompact && frame_.values.value_tables().kept == nullptr; }
  // References to the values of inputs and outputs.
  [[nodiscard]] EValue& input_value(size_t index) const;
  [[nodiscard]] EValue& output_value(size_t index) const;
  void trace_outputs() const;

  flatbuffer::Table plan_;
  CallFrame frame_;
  Interrupt* interrupt_;
  // One entry per instruction, through all chains: prepared data, or `prepared_` itself if the call is
  // folded. Null if nothing is prepared.
  const void** prepared_ = nullptr;
  uint64_t instruction_budget_;
  EValue* ends_ = nullptr;  // compact methods: inputs, then outputs
  size_t num_tensors_ = 0;
  const PrepareSupport* prepare_support_ = nullptr;    // null if nothing is prepared
  const KernelEntry** kernels_ = nullptr;              // one per entry of the plan's operators
  const DelegateSupport* delegate_support_ = nullptr;  // null without delegates
  DelegateList delegates_;
  FreeableBuffer* external_data_ = nullptr;
  size_t num_external_data_ = 0;       // number of loaded entries
  bool memory_changes_ = false;        // some tensors get memory, or become aliases, during execution
  const uint32_t* windows_ = nullptr;  // see MethodCalls::set_windows()
  WindowExecutor* window_executor_ = nullptr;
  FailedCall failed_call_;
};

}  // namespace rushlight
