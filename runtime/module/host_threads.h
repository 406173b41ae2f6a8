// SPDX-License-Identifier: BSD-3-Clause
// A thread pool for hosts, shared by the kernels of any number of methods. One method at a time uses it; a
// method that executes meanwhile computes on its own thread alone.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <pthread.h>

#include "runtime/kernel/thread_pool.h"

namespace rushlight {

// Safe to use from several threads. After fork(), the child's kernels compute single-threaded.
class HostThreads final : public ThreadPool {
 public:
  // Starts a pool of `threads` threads, including the caller's; fewer if the system provides fewer. Idle
  // threads sleep.
  static std::shared_ptr<HostThreads> start(size_t threads);
  // Returns a pool of `threads` threads that is shared by all callers with the same number, as long as one of
  // them keeps it.
  static std::shared_ptr<HostThreads> shared(size_t threads);
  // Number of physical cores that this process may use.
  [[nodiscard]] static size_t default_count();

  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;
  ~HostThreads();

  [[nodiscard]] size_t threads() const override;
  // See ThreadPool. Threads take pieces one at a time, so faster threads process more of them.
  void run(size_t count, size_t grain, Task task, void* work) override;

 private:
  HostThreads();
  // The argument of a started thread: `number` is from 1; 0 is the caller of run().
  struct Worker {
    HostThreads* pool;
    size_t number;
    pthread_t thread;
  };
  static void* enter(void* worker);
  // The worker's loop: waits for a round, takes pieces, reports its end.
  void serve(size_t number);
  // Calls the task for pieces of the current round until none is left.
  void take_pieces(size_t number);
  // Returns the next round that run() starts after `seen`, or 0 when the pool ends.
  unsigned wait_for_work(unsigned seen);

  std::vector<std::unique_ptr<Worker>> workers_;
  const unsigned process_;  // fork count of the process that has the threads

  pthread_mutex_t in_use_;  // held by the caller of run()
  Task task_ = nullptr;
  void* work_ = nullptr;
  size_t count_ = 0;
  size_t piece_ = 0;
  std::atomic<size_t> next_{0};
  std::atomic<size_t> busy_{0};  // workers that have not finished this round

  std::atomic<unsigned> round_{1};  // 0 ends the pool
  pthread_mutex_t sleep_;
  pthread_cond_t wake_;
};

}  // namespace rushlight
