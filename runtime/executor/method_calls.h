// SPDX-License-Identifier: BSD-3-Clause
// The single calls of a loaded method, for code that makes them in another order than Method::execute(), or
// several at once. Hosts use it (runtime/module/lanes.h); a program that does not links none of it.
#pragma once

#include "runtime/base/result.h"
#include "runtime/executor/method.h"

namespace rushlight {

// Executes windows of a method: consecutive kernel calls of one chain, in an order of its own.
class WindowExecutor {
 public:
  // Executes the window that begins at instruction `number`, counted through all chains. Errors: as
  // Method::execute().
  virtual Error execute_window(size_t number) = 0;

 protected:
  ~WindowExecutor() = default;
};

// A kernel call of a method's program.
struct CallSite {
  flatbuffer::Table call;  // the arguments of the instruction
  size_t number;           // of the instruction, through all chains
  size_t at;               // of the instruction, in its chain
};

// A view of a method, which must outlive it and stay where it is.
class MethodCalls {
 public:
  explicit MethodCalls(Method& method) : method_(method) {}

  // Bytes that make_frame() takes from an arena that is aligned to 8 bytes. Errors: as Method::load().
  [[nodiscard]] Result<size_t> frame_bytes() const;
  // Makes a frame for another thread. `memory`, `temporary` and `threads` (the last two may be null) must
  // outlive it. Errors: MemoryAllocationFailed; as Method::load().
  [[nodiscard]] Result<CallFrame> make_frame(Arena* memory, Arena* temporary, ThreadPool* threads) const;

  // Makes a call in a frame from make_frame(); none if it was folded. Several frames may make calls at once,
  // if no call uses a value, or memory, that another one writes. Errors: of the kernel.
  Error make(CallFrame& frame, const CallSite& site);
  // Makes a call in the method's own frame, as execute() does, and records it if it fails.
  Error make(const CallSite& site);

  // Records and logs that a call failed, as execute() does. Returns `error`.
  Error report(Error error, const CallSite& site) {
    return method_.report(error, site.at, &kernel(site.call));
  }

  // The kernels of the plan's operators, and of a call.
  [[nodiscard]] const KernelEntry* const* kernels() const { return method_.kernels_; }
  [[nodiscard]] const KernelEntry& kernel(flatbuffer::Table call) const;
  // Returns true if the call of instruction `number` was folded at load.
  [[nodiscard]] bool is_folded(size_t number) const { return method_.is_folded(number); }
  [[nodiscard]] flatbuffer::Table plan() const { return method_.plan_; }
  [[nodiscard]] const MethodValues& values() const { return method_.frame_.values; }
  // Returns true if tensors get memory, or become aliases, during execution.
  [[nodiscard]] bool memory_changes() const { return method_.memory_changes_; }
  // Null if the method cannot be stopped.
  [[nodiscard]] Interrupt* interrupt() const { return method_.interrupt_; }

  // Lets `executor` execute windows. `lengths` has an entry for each instruction, through all chains: the
  // number of instructions of the window that begins there, or 0. Both must outlive the method. Windows are
  // ignored while a tracer is attached, and in builds without RUSHLIGHT_LIMITS.
  void set_windows(const uint32_t* lengths, WindowExecutor* executor) {
    method_.windows_ = lengths;
    method_.window_executor_ = executor;
  }

 private:
  // The parts of the arena that one call uses at a time.
  [[nodiscard]] Result<ArenaLayout> frame_layout() const;

  Method& method_;
};

}  // namespace rushlight
