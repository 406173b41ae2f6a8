// SPDX-License-Identifier: BSD-3-Clause
// A method's threads while one kernel has them: between the parts of its work an interrupt is asked.
#pragma once

#include <algorithm>
#include <atomic>

#include "runtime/base/error.h"
#include "runtime/executor/interrupt.h"
#include "runtime/kernel/thread_pool.h"

namespace rushlight {

class StoppableThreads final : public ThreadPool {
 public:
  // `threads` may be null: then the caller's is the only one. Both outlive it.
  StoppableThreads(ThreadPool* threads, Interrupt* interrupt) : threads_(threads), interrupt_(interrupt) {}

  [[nodiscard]] size_t threads() const override { return threads_ == nullptr ? 1 : threads_->threads(); }
  [[nodiscard]] bool splits() const override { return true; }

  // The caller's thread asks; once the answer was an error, what has not begun is left out.
  void run(size_t count, size_t grain, Task task, void* work) override {
    const size_t least = kGrains * std::max(grain, size_t{1});
    Parts parts{this, task, work, std::max(least, (count + kParts - 1) / kParts)};
    if (threads() == 1) return run_parts(&parts, 0, count, 0);
    threads_->run(count, grain, run_parts, &parts);
  }

  // What the interrupt has answered.
  [[nodiscard]] Error error() const { return error_; }

 private:
  // Parts have at least so many grains, and there are about so many parts for each thread: work of microseconds
  // stays whole, and work of a second is stopped within a sixteenth of it.
  static constexpr size_t kGrains = 4;
  static constexpr size_t kParts = 16;

  struct Parts {
    StoppableThreads* threads;
    Task task;
    void* work;
    size_t size;
  };

  static void run_parts(void* parts, size_t begin, size_t end, size_t thread) {
    const auto& [threads, task, work, size] = *static_cast<Parts*>(parts);
    while (begin < end && !threads->stopped_.load(std::memory_order_relaxed)) {
      const size_t stop = end - begin > size ? begin + size : end;
      task(work, begin, stop, thread);
      begin = stop;
      if (thread == 0) threads->ask();
    }
  }

  void ask() {
    uint64_t next = 0;
    error_ = interrupt_->poll(&next);
    if (error_ != Error::Ok) stopped_.store(true, std::memory_order_relaxed);
  }

  ThreadPool* threads_;
  Interrupt* interrupt_;
  Error error_ = Error::Ok;  // of the caller's thread alone
  std::atomic<bool> stopped_{false};
};

}  // namespace rushlight
