// SPDX-License-Identifier: BSD-3-Clause
// A thread pool for hosts, shared by the kernels of any number of methods, and by jobs: whole executions that
// run in the background.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <pthread.h>

#include "runtime/kernel/thread_pool.h"
#include "runtime/module/thread_round.h"

namespace rushlight {

// Safe to use from several threads. After fork(), the child's kernels and jobs run on the calling thread.
class HostThreads final : public ThreadPool {
 public:
  using Job = std::function<void()>;

  // Starts a pool of `threads` threads, including the caller's; fewer if the system provides fewer. Idle
  // threads sleep. The last owner may be a job of the pool.
  static std::shared_ptr<HostThreads> start(size_t threads);
  // Returns a pool of `threads` threads that is shared by all callers with the same number, as long as one of
  // them keeps it.
  static std::shared_ptr<HostThreads> shared(size_t threads);
  // Number of physical cores that this process may use.
  [[nodiscard]] static size_t default_count();

  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  [[nodiscard]] size_t threads() const override;
  // False in a child process of the one that started the threads.
  [[nodiscard]] bool has_threads() const;
  // See ThreadPool. Threads take pieces one at a time, so faster threads process more of them. A caller waits
  // for no worker that has not begun a piece. Tasks may call run(); calls beyond kRounds at once, and callers
  // while threads() threads execute methods, compute alone.
  void run(size_t count, size_t grain, Task task, void* work) override {
    run_limited(count, grain, task, work, threads());
  }
  void run_limited(size_t count, size_t grain, Task task, void* work, size_t most) override;

  // Runs `job` on a thread of the pool. Jobs begin in the order of their submission, up to threads() of them
  // run at once, and they may call run() and submit(). Each job runs: if the last owner drops the pool, it
  // waits for all of them. Runs the job before it returns if no thread can be started, and after fork().
  void submit(Job job);

  // Marks that the calling thread computes, until the object is destroyed: workers help only while fewer than
  // threads() threads compute. Does nothing without a pool, or if the thread is marked already.
  class Computing {
   public:
    explicit Computing(HostThreads* pool);
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;
    ~Computing();

   private:
    HostThreads* pool_;  // null if nothing was marked
    const HostThreads* outer_;
  };

 private:
  // Calls of run() that workers can help at once.
  static constexpr size_t kRounds = 4;
  // Units of load_.
  static constexpr uint64_t kWaiting = 1;                 // workers that are awake and look for work
  static constexpr uint64_t kHelper = uint64_t{1} << 16;  // workers inside a round
  static constexpr uint64_t kCaller = uint64_t{1} << 32;  // threads that execute, among them jobs'
  static constexpr unsigned kEnds = 1u << 31;             // in requests_: the pool ends

  HostThreads();
  ~HostThreads();
  // Destroys the pool, if called by one of its workers after that one's job.
  static void destroy(HostThreads* pool);

  static void* enter(void* pool);
  bool add_worker();
  // The worker's loop.
  void serve();
  // Runs the next job; returns false if there is none.
  bool run_job();
  // Joins a round, works and leaves; returns false if there is none to join.
  bool help();
  bool begin_help();
  [[nodiscard]] bool has_work() const;
  // Sleeps until there may be work.
  void park();

  ThreadRound* claim_round();
  // Wakes sleeping workers if fewer are awake than could help a new round.
  void wake_helpers(size_t helpers);
  void wait_for(ThreadRound& round);

  const unsigned process_;  // fork count of the process that has the threads
  size_t threads_ = 1;

  ThreadRound rounds_[kRounds];
  alignas(64) std::atomic<uint64_t> load_{0};
  std::atomic<unsigned> requests_{0};  // number of queued jobs, and kEnds

  pthread_mutex_t mutex_;  // guards what follows
  pthread_cond_t wake_;    // for workers that sleep
  pthread_cond_t left_;    // for callers whose round has workers inside
  size_t sleepers_ = 0;
  bool has_job_worker_ = false;
  std::deque<Job> jobs_;
  std::vector<pthread_t> workers_;
};

}  // namespace rushlight
