// SPDX-License-Identifier: BSD-3-Clause
// The interface to threads that kernels can use. The runtime creates none: runtime/module/ implements it for
// hosts, and an application may provide its own.
#pragma once

#include <cstddef>

namespace rushlight {

// A pool of threads.
class ThreadPool {
 public:
  // Processes items [begin, end) of the work on thread `thread` < threads().
  using Task = void (*)(void* work, size_t begin, size_t end, size_t thread);

  // Number of threads, including the caller's; at least 1.
  [[nodiscard]] virtual size_t threads() const = 0;
  // Calls `task` on disjoint pieces that cover [0, count), each of about `grain` items or more, and returns
  // when all are done. A thread processes one piece at a time.
  virtual void run(size_t count, size_t grain, Task task, void* work) = 0;
  // run() on at most `most` threads, including the caller's, with `thread` < `most`. A pool that cannot limit
  // its threads leaves the work to the caller.
  virtual void run_limited(size_t count, size_t grain, Task task, void* work, size_t most) {
    if (most >= threads()) return run(count, grain, task, work);
    if (count != 0) task(work, 0, count, 0);
  }

 protected:
  ~ThreadPool() = default;
};

}  // namespace rushlight
