// SPDX-License-Identifier: BSD-3-Clause
// Process-wide threads for an application's own work: fork-join over an index range. rushlight's kernels do
// not use them.
//
//   get_threadpool()->run([&](size_t row) { convert(row); }, rows);
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

// Thread-safe. One run() at a time uses the threads.
class ThreadPool final {
 public:
  // Threads including the caller's; 0 means one per processor that the system reports. The pool has fewer if
  // the system refuses some. Idle threads sleep.
  explicit ThreadPool(size_t thread_count = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  // Threads including the caller's; 0 after _unsafe_destroy_threadpool().
  size_t get_thread_count() const;

  // Calls fn(i) for each i below `range` and returns when all calls have returned. Uses several threads,
  // unless a NoThreadPoolGuard exists on this thread or the pool is busy (as in a nested call); then the
  // calling thread does all calls. `fn` must permit concurrent calls, in any order, and must not throw.
  // Threads take pieces of consecutive indices, four per thread, from a shared counter.
  void run(runtime::FunctionRef<void(size_t)> fn, size_t range);

  // Replace the threads, or remove them; run() then uses the calling thread. No other code may use the pool
  // meanwhile. Returns false if `num_threads` is 0.
  ET_EXPERIMENTAL bool _unsafe_reset_threadpool(uint32_t num_threads);
  ET_EXPERIMENTAL void _unsafe_destroy_threadpool();

 private:
  class Threads;

  mutable std::mutex mutex_;
  std::shared_ptr<Threads> threads_;
};

// The pool of the process, created by the first call with one thread per processor; never null. Several
// threads may call at once.
ThreadPool* get_threadpool();
// Always null; pthreadpool's functions then work on the calling thread.
pthreadpool_t get_pthreadpool();

}  // namespace executorch::extension::threadpool

namespace torch::executorch::threadpool {
using ::executorch::extension::threadpool::get_pthreadpool;
using ::executorch::extension::threadpool::get_threadpool;
using ::executorch::extension::threadpool::ThreadPool;
}  // namespace torch::executorch::threadpool
