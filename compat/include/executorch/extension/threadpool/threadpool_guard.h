// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace executorch::extension::threadpool {

// While an object exists, its thread passes no work to others.
struct NoThreadPoolGuard {
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
