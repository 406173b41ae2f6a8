// SPDX-License-Identifier: BSD-3-Clause
// Makes kernels interruptible: while a kernel runs on a thread pool, the caller's thread polls the method's
// interrupt, and after an error no thread starts more of the kernel's work. The executor polls through this
// object too, so that it also stops.
#pragma once

#include <atomic>

#include "runtime/executor/method.h"
#include "runtime/kernel/thread_pool.h"

namespace rushlight {

// For one method; wraps its thread pool and its interrupt.
class StoppableThreads final : public ThreadPool, public Interrupt {
 public:
  // `threads` and `interrupt` must outlive it.
  StoppableThreads(ThreadPool& threads, Interrupt& interrupt) : threads_(&threads), interrupt_(&interrupt) {}

  [[nodiscard]] size_t threads() const override { return threads_->threads(); }
  // See ThreadPool. Between listen() and finish(), each piece is processed in slices of about 20 ms with at
  // least `grain` items. After the interrupt returned an error, remaining and later work is skipped.
  void run(size_t count, size_t grain, Task task, void* work) override;

  // Returns the error that stopped a kernel, or polls the interrupt.
  Error poll(uint64_t* next) override;

  // Enables interruption; call it before an execution. It is off while a method is loaded, because shared
  // packed weights must be complete.
  void listen() { listens_ = true; }
  // Ends interruption after an execution. Returns `result`, or the interrupt's error if it stopped a kernel,
  // because the outputs are then incomplete.
  [[nodiscard]] Error finish(Error result);

 private:
  struct Work;
  static void work_in_slices(void* work, size_t begin, size_t end, size_t thread);
  [[nodiscard]] bool is_stopped() const { return stopped_.load(std::memory_order_relaxed) != Error::Ok; }

  ThreadPool* threads_;
  Interrupt* interrupt_;
  bool listens_ = false;
  std::atomic<Error> stopped_{Error::Ok};
};

}  // namespace rushlight
