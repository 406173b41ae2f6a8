// SPDX-License-Identifier: BSD-3-Clause
// The threads of one method, with an ear for its interrupt: the caller's thread asks it while a kernel runs,
// and then nobody begins more of the kernel's work. The executor asks through it, so that it ends, too.
#pragma once

#include <atomic>

#include "runtime/executor/method.h"
#include "runtime/kernel/thread_pool.h"

namespace rushlight {

class StoppableThreads final : public ThreadPool, public Interrupt {
 public:
  // Both outlive it.
  StoppableThreads(ThreadPool& threads, Interrupt& interrupt) : threads_(&threads), interrupt_(&interrupt) {}

  [[nodiscard]] size_t threads() const override { return threads_->threads(); }
  // Between listen() and finish() each piece is worked on in slices of some 20 ms, at least `grain` items
  // each. Once the interrupt has returned an error the rest is left out, and so is all later work.
  void run(size_t count, size_t grain, Task task, void* work) override;

  // What the interrupt returned while a kernel ran, or returns now.
  Error poll(uint64_t* next) override;

  // Before a method is executed. While it is loaded nobody listens: packed weights that are shared must be
  // complete.
  void listen() { listens_ = true; }
  // After that: `result` of the execution, or what the interrupt returned, because results are incomplete.
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
