// SPDX-License-Identifier: BSD-3-Clause
// A method with its memory, allocated in the exact sizes that the program states.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/executor/method.h"
#include "runtime/module/execution_queue.h"
#include "runtime/module/lanes/lanes.h"
#include "runtime/module/method_rewriter.h"
#include "runtime/module/mmap_data_loader.h"
#include "runtime/module/renumbered_tracer.h"
#include "runtime/module/shared_objects.h"
#include "runtime/module/stoppable_threads.h"
#include "runtime/module/trial.h"
#include "runtime/module/weight_store.h"

namespace rushlight {

using MappedFiles = std::vector<std::shared_ptr<MmapDataLoader>>;

// Error: AccessFailed for the first file that changed since it was opened.
[[nodiscard]] Error check_files(const MappedFiles& files);

// Loads, owns and executes one method, and counts its memory against a limit. Not thread-safe.
class ModuleMethod final : private BackendHost, private PreparedWeights::Watcher, private Lanes::Memory {
 public:
  // Objects that the methods of a program share.
  struct Surroundings {
    WeightStore* weights = nullptr;          // prepared constants; null: none are prepared
    MethodRewriter* rewriter = nullptr;      // null: the method is loaded as stated
    SharedObjects* objects = nullptr;        // shared objects of backends; null: each method has its own
    MappedFiles mapped = {};                 // files that contain constants
    std::shared_ptr<HostThreads> pool = {};  // for execute_async(); null: the shared one of default size
    BackendHost* host = nullptr;             // host of the enclosing method, for methods inside a delegate
    size_t max_memory = 0;                   // see ModuleOptions
    size_t lanes = SIZE_MAX;                 // see ModuleOptions, but 0 and 1 mean none
    // Measured seconds of each instruction, through all chains; may be empty. For decisions about lanes.
    std::vector<double> seconds = {};
  };

  // Scratch reserved for kernels that do not state their need. Untouched pages use no memory.
  static constexpr size_t kTemporaryBytes = size_t{16} << 20;
  // Bytes that are prepared before the file pages of their sources are released.
  static constexpr size_t kReleaseBytes = size_t{1} << 20;
  // Memory reserved for allocations of backends, if the method has delegates. Untouched pages use no memory.
  static constexpr size_t kBackendBytes = size_t{16} << 20;

  // Loads method `name`, or what the rewriter makes of it if that can be loaded. `program`, the objects in
  // `around` and those in `options` must outlive the method. Errors: as MethodMeta and Method::load();
  // MemoryAllocationFailed, before anything is allocated if the known sizes exceed max_memory.
  [[nodiscard]] static Result<std::unique_ptr<ModuleMethod>> load(const Program& program, const char* name,
                                                                  const OperatorTable& operators,
                                                                  const MethodOptions& options,
                                                                  const Surroundings& around);
  [[nodiscard]] static Result<std::unique_ptr<ModuleMethod>> load(const Program& program, const char* name,
                                                                  const OperatorTable& operators,
                                                                  const MethodOptions& options = {}) {
    return load(program, name, operators, options, Surroundings());
  }

  ~ModuleMethod() = default;

  // The loaded method. If it was rewritten, the program has another plan and other
  // instructions.
  Method& method() { return *method_; }
  Method* operator->() { return method_.get(); }

  // Sets all inputs in order and executes. Tensors without planned memory are used in place. Errors:
  // InvalidArgument (number of inputs), or as Method::set_input() and execute(). `execution` can stop it.
  Error execute(Span<const EValue> inputs, const Execution* execution = nullptr);
  // Executes with the inputs that were set. Errors: AccessFailed (a mapped file changed since it was loaded),
  // Cancelled or DeadlineExceeded (of `execution`), or as Method::execute().
  Error execute(const Execution* execution = nullptr);

  // Executes in the background, after the executions that were begun so before, and calls `done` on a thread
  // of the pool with the result of execute(inputs); until it returns, outputs() are valid. The memory of
  // input tensors must be valid until then too. Nothing else may use the method meanwhile, except
  // execute_async(). Destroying the method cancels its executions and waits for them; `done` may destroy it.
  ExecutionQueue::Handle execute_async(std::vector<EValue> inputs, const ExecutionOptions& options,
                                       std::function<void(Error)> done);
  // The queue of execute_async(), for callers whose executions do more: `run` calls execute().
  ExecutionQueue& executions();
  // The outputs. They refer to this method's memory and are valid until its next execution.
  [[nodiscard]] std::vector<EValue> outputs() const;

  // Bytes used in the arena for the method's values.
  [[nodiscard]] size_t arena_bytes() const { return arena_.used(); }
  [[nodiscard]] bool is_rewritten() const { return rewritten_ != nullptr; }
  // Method::failed_call(), with the number of the program's instruction.
  [[nodiscard]] Method::FailedCall failed_call() const;
  // The most scratch that was in use.
  [[nodiscard]] size_t temporary_peak_bytes() const { return temporary_.peak(); }
  [[nodiscard]] const std::vector<Span<uint8_t>>& planned() const { return planned_; }
  // The largest scratch that a kernel requested, and the bytes that loading this method added to the prepared
  // constants, or would have added without the limit.
  [[nodiscard]] size_t scratch_bytes() const { return scratch_bytes_; }
  [[nodiscard]] size_t prepared_bytes() const { return prepared_bytes_; }
  // The memory that this method counts as a delegate of another method.
  [[nodiscard]] DelegateMemory memory() const;
  // The memory of its delegates.
  [[nodiscard]] const DelegateMemory& delegate_memory() const { return delegate_memory_; }
  // Zeros if no calls execute in parallel, except for program_bytes.
  [[nodiscard]] LaneFacts lane_facts() const;
  // Bytes counted against max_memory.
  [[nodiscard]] size_t taken_bytes() const { return taken_bytes_; }

 private:
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  struct Unmap {
    size_t size;
    void operator()(uint8_t* memory) const;
  };

  ModuleMethod() = default;
  static Result<std::unique_ptr<ModuleMethod>> load_rewritten(std::unique_ptr<RewrittenMethod> rewritten,
                                                              const char* name,
                                                              const OperatorTable& operators,
                                                              const MethodOptions& options,
                                                              const Surroundings& around);
  // Loads into this new object.
  Error load_into(const Program& program, const char* name, const OperatorTable& operators,
                  const MethodOptions& options, const Surroundings& around);
  // Returns zeroed memory, aligned to 16 bytes; an empty span on failure.
  Span<uint8_t> allocate(size_t size);
  // The same for memory of which most is never touched: maps pages without reserving them.
  Span<uint8_t> reserve(size_t size);
  // Counts bytes against the limit. Error: MemoryAllocationFailed.
  Error count(uint64_t size);
  // Counts the planned buffers and `arena` bytes.
  Error count_planned(const MethodMeta& meta, uint64_t arena);
  Error allocate_planned(const MethodMeta& meta);
  [[nodiscard]] std::vector<size_t> unplanned_outputs() const;
  Error allocate_outputs();
  // Prepares constants; `work` receives the kernels' estimates by instruction.
  Error prepare(WeightStore* weights, std::vector<CallWork>* work);
  // Starts lanes if they pay and their memory fits.
  Error start_lanes(const OperatorTable& operators, ThreadPool* threads, const Surroundings& around,
                    const std::vector<CallWork>& work);
  [[nodiscard]] size_t program_planned_bytes() const;
  Span<uint8_t> zeroed(size_t size) override { return allocate(size); }
  Span<uint8_t> reserved(size_t size) override { return reserve(size); }
  // Executes on all threads or on the calling one alone, as the trial says. Short calls cost more to share
  // than to compute.
  Error execute_on_fitting_threads();
  // Puts what stops an execution between the method and the caller's interrupt and threads.
  void make_stoppable(MethodOptions* options);

  [[nodiscard]] size_t bytes_left() const override { return max_memory_ - taken_bytes_; }
  [[nodiscard]] uint64_t counted(const DelegateMemory& memory) const;
  Error take(const DelegateMemory& memory) override;
  void give_back(const DelegateMemory& memory) override;
  void begin_block(size_t size) override;
  void release_pages() override;
  [[nodiscard]] bool prepares() const override { return prepares_; }
  [[nodiscard]] size_t lanes() const override { return most_lanes_; }
  [[nodiscard]] void* shared(const SharedKind& kind) override { return objects_->get(kind); }

  std::unique_ptr<RewrittenMethod> rewritten_;  // null: the method is as stated
  std::optional<RenumberedTracer> tracer_;      // of a rewritten method that is traced
  std::vector<std::unique_ptr<uint8_t, Free>> memory_;
  std::vector<std::unique_ptr<uint8_t, Free>> planned_memory_;  // empty if lanes have moved the tensors
  std::vector<std::unique_ptr<uint8_t, Unmap>> reserved_;
  std::vector<Span<uint8_t>> planned_;
  Arena arena_;
  Arena temporary_;
  MappedFiles mapped_;
  size_t max_memory_ = 0;
  size_t taken_bytes_ = 0;
  size_t scratch_bytes_ = 0;
  size_t prepared_bytes_ = 0;
  size_t taken_prepared_ = 0;  // counted part of prepared_bytes_
  size_t unreleased_ = 0;      // bytes prepared since file pages were released
  bool prepares_ = false;
  size_t most_lanes_ = 1;
  BackendHost* host_ = nullptr;
  DelegateMemory delegate_memory_;
  std::unique_ptr<SharedObjects> own_objects_;
  SharedObjects* objects_ = nullptr;
  std::shared_ptr<HostThreads> pool_;  // of the surroundings
  std::unique_ptr<ExecutionInterrupt> interrupt_;
  std::unique_ptr<StoppableThreads> threads_;  // null without threads
  std::unique_ptr<WeightStore> own_weights_;   // for constants that live only as long as the method
  std::unique_ptr<Method> method_;
  std::unique_ptr<Lanes> lanes_;  // null if no calls execute in parallel
  Trial alone_;                   // of the calling thread alone against all threads
  bool is_short_ = true;          // false if an execution is too long for trials
  std::once_flag queue_made_;
  std::unique_ptr<ExecutionQueue> queue_;  // made at first use; destroyed first, while the method is whole
};

}  // namespace rushlight
