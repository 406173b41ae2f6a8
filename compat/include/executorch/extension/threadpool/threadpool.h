// SPDX-License-Identifier: BSD-3-Clause
// Threads of the process that applications share their own work with. rushlight's kernels run on the thread
// that calls a method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include <executorch/runtime/core/function_ref.h>
#include <executorch/runtime/platform/compiler.h>

// The library of that name is not used: there is no such pool, and no thread but the caller's behind null.
typedef struct pthreadpool* pthreadpool_t;

namespace executorch::extension::threadpool {

class ThreadPool final {
 public:
  // 0: as many as the system has processors.
  explicit ThreadPool(size_t thread_count = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  size_t get_thread_count() const;

  // Calls fn(i) for each i below `range`, on several threads unless a NoThreadPoolGuard lives on this one,
  // and returns when all calls have. A pool that is in use runs them on the calling thread.
  void run(runtime::FunctionRef<void(size_t)> fn, size_t range);

  // Nothing else may use the pool meanwhile. False for no threads at all.
  ET_EXPERIMENTAL bool _unsafe_reset_threadpool(uint32_t num_threads);
  ET_EXPERIMENTAL void _unsafe_destroy_threadpool();

 private:
  class Threads;

  mutable std::mutex mutex_;
  std::shared_ptr<Threads> threads_;
};

// The process's own.
ThreadPool* get_threadpool();
// Always null, on which the functions of pthreadpool run their work on the calling thread.
pthreadpool_t get_pthreadpool();

}  // namespace executorch::extension::threadpool

namespace torch::executorch::threadpool {
using ::executorch::extension::threadpool::get_pthreadpool;
using ::executorch::extension::threadpool::get_threadpool;
using ::executorch::extension::threadpool::ThreadPool;
}  // namespace torch::executorch::threadpool
