// SPDX-License-Identifier: BSD-3-Clause
// Executes independent calls of a method in parallel, on the pool that kernels use.
//
// The loader decides which calls execute together (lane_plan.h) and plans memory for it (lane_memory.h).
// Results are the same bits: the same kernels read the same numbers. The first executions measure each window
// in lanes and in the program's order, and the faster way stays (trial.h).
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/executor/method_calls.h"
#include "runtime/kernel/thread_pool.h"
#include "runtime/module/lanes/lane_memory.h"
#include "runtime/module/lanes/lane_plan.h"
#include "runtime/module/thread_share.h"
#include "runtime/module/trial.h"

namespace rushlight {

// Facts about the lanes of a method, for reports.
struct LaneFacts {
  size_t lanes = 0;          // most lanes of a window
  size_t windows = 0;        // windows that may execute in lanes
  size_t calls = 0;          // calls in them
  size_t taken = 0;          // windows whose measurement decided for lanes
  size_t open = 0;           // windows that are still measured
  size_t planned_bytes = 0;  // planned memory with lanes
  size_t program_bytes = 0;  // planned memory as the program states it
  bool alone = false;        // the calling thread alone was measured to be faster than all threads
};

// The lanes of one method, which must outlive them and stay where it is. Not thread-safe, as the method.
class Lanes final : private WindowExecutor {
 public:
  struct Options {
    size_t lanes = 0;                    // most lanes; below 2 there are none
    size_t scratch = 0;                  // bytes of scratch of each lane
    const std::vector<CallWork>* work;   // kernels' estimates, by instruction
    const std::vector<double>* seconds;  // measured times by instruction; may be empty
  };
  // Memory of a size, as long as the method; null if there is none.
  class Memory {
   public:
    // Aligned to 16 bytes.
    virtual Span<uint8_t> zeroed(size_t size) = 0;
    // Pages of which most are never touched.
    virtual Span<uint8_t> reserved(size_t size) = 0;

   protected:
    ~Memory() = default;
  };

  // Plans lanes for a loaded and prepared method; null if no window pays. `operators` is the table that the
  // method was loaded with. Lanes execute on `pool`, and their kernels on shares of `kernel_threads`, which
  // is `pool` or computes on its threads.
  static std::unique_ptr<Lanes> plan(Method& method, const OperatorTable& operators, ThreadPool& pool,
                                     ThreadPool& kernel_threads, const Options& options);

  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes();

  // Bytes that start() allocates, without the lanes' scratch.
  [[nodiscard]] size_t bytes() const;
  [[nodiscard]] size_t num_lanes() const { return num_lanes_; }
  // Returns true if start() moves all of the method's planned tensors, and its planned buffers are free then.
  [[nodiscard]] bool moves_memory() const { return moves_memory_; }
  // Moves the planned tensors and takes over the windows. Error: MemoryAllocationFailed; then nothing has
  // changed.
  Error start(Memory& memory);

  [[nodiscard]] LaneFacts facts() const;
  // Returns true while a window's executions are timed.
  [[nodiscard]] bool is_measured() const;

 private:
  struct Round;
  struct PlannedWindow {
    std::vector<CallSite> in_order;
    std::vector<std::vector<CallSite>> lanes;
    size_t share;  // threads of each lane's kernels
    Trial trial;
  };

  Lanes(Method& method, ThreadPool& pool, ThreadPool& kernel_threads, CallGraph graph,
        const std::vector<Window>& windows, const Options& options);
  Error execute_window(size_t number) override;
  // Polls the method's interrupt. Only for the thread that executes the method.
  Error poll();
  Error execute_in_order(const PlannedWindow& window);
  Error execute_in_lanes(const PlannedWindow& window);
  static void work(void* round, size_t begin, size_t end, size_t thread);
  void move_tensors(Span<uint8_t> memory);

  Method& method_;
  MethodCalls calls_;
  ThreadPool& pool_;
  ThreadPool& kernel_threads_;
  std::optional<CallGraph> graph_;  // until start()
  bool moves_memory_;
  LaneMemory memory_;
  size_t scratch_bytes_;
  size_t frame_bytes_ = 0;
  size_t num_lanes_ = 0;
  std::vector<PlannedWindow> windows_;
  std::vector<uint32_t> lengths_;    // by instruction; see MethodCalls::set_windows()
  std::vector<uint32_t> window_at_;  // by instruction
  std::vector<Arena> scratch_;       // by lane
  std::vector<CallFrame> frames_;    // by lane
};

}  // namespace rushlight
