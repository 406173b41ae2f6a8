// SPDX-License-Identifier: BSD-3-Clause
// Limits kernels to a part of a thread pool, so that several parts of a method can compute at once.
#pragma once

#include "runtime/kernel/thread_pool.h"

namespace rushlight {

// `most` threads of a pool, including the caller's. Several shares of one pool may be in use at once.
class ThreadShare final : public ThreadPool {
 public:
  // `pool` must outlive it. `most`: from 1 to pool.threads().
  ThreadShare(ThreadPool& pool, size_t most) : pool_(&pool), most_(most) {}

  [[nodiscard]] size_t threads() const override { return most_; }
  void run(size_t count, size_t grain, Task task, void* work) override {
    pool_->run_limited(count, grain, task, work, most_);
  }
  void run_limited(size_t count, size_t grain, Task task, void* work, size_t most) override {
    pool_->run_limited(count, grain, task, work, most < most_ ? most : most_);
  }

 private:
  ThreadPool* pool_;
  size_t most_;
};

}  // namespace rushlight
