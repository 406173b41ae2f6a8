// SPDX-License-Identifier: BSD-3-Clause
// Process-wide threads for an application's own work. rushlight's kernels do not use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include <executorch/runtime/core/function_ref.h>
#include <executorch/runtime/platform/compiler.h>

// The pthreadpool library is not used: the handle is always null, which means the caller's thread only.
typedef struct pthreadpool* pthreadpool_t;

namespace executorch::extension::threadpool {

class ThreadPool final {
 public:
  // 0 means one thread per processor.
  explicit ThreadPool(size_t thread_count = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  size_t get_thread_count() const;

  // Calls fn(i) for each i below `range` and returns when all calls have returned. Uses several threads,
  // unless a NoThreadPoolGuard exists on this thread or the pool is busy; then the calling thread does all
  // calls.
  void run(runtime::FunctionRef<void(size_t)> fn, size_t range);

  // No other code may use the pool meanwhile. Returns false if `num_threads` is 0.
  ET_EXPERIMENTAL bool _unsafe_reset_threadpool(uint32_t num_threads);
  ET_EXPERIMENTAL void _unsafe_destroy_threadpool();

 private:
  class Threads;

  mutable std::mutex mutex_;
  std::shared_ptr<Threads> threads_;
};

// The pool of the process. The first call makes it; several threads may call at once.
ThreadPool* get_threadpool();
// Always null; pthreadpool's functions then work on the calling thread.
pthreadpool_t get_pthreadpool();

}  // namespace executorch::extension::threadpool

namespace torch::executorch::threadpool {
using ::executorch::extension::threadpool::get_pthreadpool;
using ::executorch::extension::threadpool::get_threadpool;
using ::executorch::extension::threadpool::ThreadPool;
}  // namespace torch::executorch::threadpool
