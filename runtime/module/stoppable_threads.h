// SPDX-License-Identifier: BSD-3-Clause
// Makes kernels interruptible: while a kernel runs on a thread pool, the thread that began the execution
// polls the method's interrupt, and after an error no thread starts more of the kernel's work. The executor
// polls through this object too, so that it also stops, on every thread. It also leaves an execution to its
// caller alone, if that is faster.
#pragma once

#include <atomic>

#include <pthread.h>

#include "runtime/executor/method.h"
#include "runtime/kernel/thread_pool.h"

namespace rushlight {

// For one method; wraps its thread pool and its interrupt.
class StoppableThreads final : public ThreadPool, public Interrupt {
 public:
  // `threads` and `interrupt` must outlive it.
  StoppableThreads(ThreadPool& threads, Interrupt& interrupt) : threads_(&threads), interrupt_(&interrupt) {}

  [[nodiscard]] size_t threads() const override { return alone_ ? 1 : threads_->threads(); }
  void run(size_t count, size_t grain, Task task, void* work) override {
    run_limited(count, grain, task, work, threads());
  }
  // See ThreadPool. Between listen() and finish(), each piece is processed in slices of about 20 ms with at
  // least `grain` items. After the interrupt returned an error, remaining and later work is skipped.
  void run_limited(size_t count, size_t grain, Task task, void* work, size_t most) override;

  // Lets the caller of run() do all work, until it is called with false. Not during an execution.
  void set_alone(bool alone) { alone_ = alone; }

  // Returns the error that stopped the execution, or polls the interrupt. Threads other than the one that
  // called listen() do not poll: an interrupt may run Python code or touch state of its caller.
  Error poll(uint64_t* next) override;

  // Enables interruption; call it before an execution, on the thread that executes. It is off while a method
  // is loaded, because shared packed weights must be complete.
  void listen() {
    owner_ = pthread_self();
    listens_ = true;
  }
  // Ends interruption after an execution. Returns `result`, or the interrupt's error if it stopped a kernel,
  // because the outputs are then incomplete.
  [[nodiscard]] Error finish(Error result);

 private:
  struct Work;
  static void work_in_slices(void* work, size_t begin, size_t end, size_t thread);

  [[nodiscard]] bool is_owner() const { return pthread_equal(owner_, pthread_self()) != 0; }

  ThreadPool* threads_;
  Interrupt* interrupt_;
  bool alone_ = false;
  bool listens_ = false;
  pthread_t owner_ = {};
  std::atomic<Error> stopped_{Error::Ok};
};

}  // namespace rushlight
