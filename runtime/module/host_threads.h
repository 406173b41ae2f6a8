// SPDX-License-Identifier: BSD-3-Clause
// Threads of a host, which kernels of any number of methods share: one method at a time has them, another
// that runs meanwhile works on its own thread alone.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <pthread.h>

#include "runtime/kernel/thread_pool.h"

namespace rushlight {

class HostThreads final : public ThreadPool {
 public:
  // `threads` with the caller's own, at least 1; fewer where the system gives no more. Those that wait sleep.
  static std::shared_ptr<HostThreads> start(size_t threads);
  // The same pool for all who ask for that many while one of them keeps it.
  static std::shared_ptr<HostThreads> shared(size_t threads);
  // The physical cores that this process may use.
  [[nodiscard]] static size_t default_count();

  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;
  ~HostThreads();

  [[nodiscard]] size_t threads() const override;
  // See ThreadPool. Pieces are handed out one after another, so that fast threads take more.
  void run(size_t count, size_t grain, Task task, void* work) override;

 private:
  HostThreads();
  struct Worker {
    HostThreads* pool;
    size_t number;
    pthread_t thread;
  };
  static void* enter(void* worker);
  void serve(size_t number);
  void take_pieces(size_t number);
  // What run() has begun since `seen`, or 0 when the pool ends.
  unsigned wait_for_work(unsigned seen);

  std::vector<std::unique_ptr<Worker>> workers_;
  const unsigned process_;  // which of those made by fork() has the threads

  pthread_mutex_t turn_;  // whose run() it is
  Task task_ = nullptr;
  void* work_ = nullptr;
  size_t count_ = 0;
  size_t piece_ = 0;
  std::atomic<size_t> next_{0};
  std::atomic<size_t> busy_{0};  // workers that have not finished this round

  std::atomic<unsigned> round_{1};  // 0: the end
  pthread_mutex_t sleep_;
  pthread_cond_t wake_;
};

}  // namespace rushlight
