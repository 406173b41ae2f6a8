// SPDX-License-Identifier: BSD-3-Clause
// Threads that kernels share their work with. The runtime has none of its own: runtime/module/ has them for
// hosts, and an application may bring others.
#pragma once

#include <cstddef>

namespace rushlight {

class ThreadPool {
 public:
  // Items [begin, end) of the work, by thread number `thread` < threads().
  using Task = void (*)(void* work, size_t begin, size_t end, size_t thread);

  // The caller's thread included; at least 1.
  [[nodiscard]] virtual size_t threads() const = 0;
  // Runs `task` on [0, count) in pieces of at least `grain` items, but for the last, and returns when all are
  // done. A thread works on one piece at a time.
  virtual void run(size_t count, size_t grain, Task task, void* work) = 0;

 protected:
  ~ThreadPool() = default;
};

}  // namespace rushlight
