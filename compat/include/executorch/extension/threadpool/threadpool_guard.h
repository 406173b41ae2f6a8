// SPDX-License-Identifier: BSD-3-Clause
// Suspends the use of the thread pool on one thread, for code that must not share its work.
#pragma once

namespace executorch::extension::threadpool {

// While an object exists, ThreadPool::run() on its thread passes no work to others. Guards nest: the end of
// one restores the state before it. The flag is per thread, so work that runs on other threads is unaffected.
struct NoThreadPoolGuard {
  // The flag of the calling thread: true while a guard exists. set_enabled() changes it without a guard.
  static bool is_enabled() { return enabled; }
  static void set_enabled(bool value) { enabled = value; }

  NoThreadPoolGuard() : before_(is_enabled()) { set_enabled(true); }
  ~NoThreadPoolGuard() { set_enabled(before_); }
  NoThreadPoolGuard(const NoThreadPoolGuard&) = delete;
  NoThreadPoolGuard& operator=(const NoThreadPoolGuard&) = delete;

 private:
  static inline thread_local bool enabled = false;

  const bool before_;
};

}  // namespace executorch::extension::threadpool

namespace torch::executorch::threadpool {
using ::executorch::extension::threadpool::NoThreadPoolGuard;
}
