// SPDX-License-Identifier: BSD-3-Clause
// The official thread pool on rushlight's HostThreads. Each ThreadPool has separate threads, and shares none
// with rushlight::Module.
#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include <executorch/extension/threadpool/cpuinfo_utils.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/extension/threadpool/threadpool_guard.h>

#include "runtime/module/host_threads.h"

namespace executorch::extension::threadpool {

class ThreadPool::Threads {
 public:
  explicit Threads(size_t count) : pool_(rushlight::HostThreads::start(count)) {}
  rushlight::HostThreads& operator*() { return *pool_; }
  [[nodiscard]] size_t count() const { return pool_->threads(); }

 private:
  std::shared_ptr<rushlight::HostThreads> pool_;
};

namespace {

std::mutex making_shared_pool;
std::unique_ptr<ThreadPool> shared_pool;

}  // namespace

ThreadPool::ThreadPool(size_t thread_count)
    : threads_(std::make_shared<Threads>(
          thread_count > 0 ? thread_count : std::max<size_t>(std::thread::hardware_concurrency(), 1))) {}

ThreadPool::~ThreadPool() = default;

size_t ThreadPool::get_thread_count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return threads_ == nullptr ? 0 : threads_->count();
}

bool ThreadPool::_unsafe_reset_threadpool(uint32_t num_threads) {
  if (num_threads == 0) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (threads_ == nullptr || threads_->count() != num_threads) {
    threads_ = std::make_shared<Threads>(num_threads);
  }
  return true;
}

void ThreadPool::_unsafe_destroy_threadpool() {
  const std::lock_guard<std::mutex> lock(mutex_);
  threads_.reset();
}

void ThreadPool::run(runtime::FunctionRef<void(size_t)> fn, size_t range) {
  // Keeps the threads alive if another thread resets the pool meanwhile. The lock is not held while work
  // runs.
  std::shared_ptr<Threads> threads;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    threads = threads_;
  }
  if (range <= 1 || threads == nullptr || NoThreadPoolGuard::is_enabled()) {
    for (size_t i = 0; i < range; ++i) fn(i);
    return;
  }
  (**threads).run(
      range, 1,
      // A piece is a range of indices; the official function is called for each one.
      [](void* work, size_t begin, size_t end, size_t) {
        for (size_t i = begin; i < end; ++i) (*static_cast<runtime::FunctionRef<void(size_t)>*>(work))(i);
      },
      &fn);
}

// Not a static variable of the function: rushlight is compiled without locks for their initialisation.
ThreadPool* get_threadpool() {
  const std::lock_guard<std::mutex> lock(making_shared_pool);
  if (shared_pool == nullptr) shared_pool = std::make_unique<ThreadPool>();
  return shared_pool.get();
}

pthreadpool_t get_pthreadpool() { return nullptr; }

}  // namespace executorch::extension::threadpool

namespace executorch::extension::cpuinfo {

uint32_t get_num_performant_cores() { return static_cast<uint32_t>(rushlight::HostThreads::default_count()); }

}  // namespace executorch::extension::cpuinfo
