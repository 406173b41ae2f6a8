// SPDX-License-Identifier: BSD-3-Clause
// The pool of the process before its first use.
#include <filesystem>
#include <iterator>

#include <executorch/extension/threadpool/threadpool.h>

#include "tests/compat/first_use/first_use.h"

namespace {

using executorch::extension::threadpool::get_threadpool;

// The calling thread counts as one of the pool. A thread that has ended may be listed a moment longer.
bool process_has_the_threads_of_one_pool() {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::filesystem::directory_iterator threads("/proc/self/task");
    const auto count = static_cast<size_t>(std::distance(begin(threads), end(threads)));
    if (count == get_threadpool()->get_thread_count()) return true;
    ::usleep(1000);
  }
  return false;
}

TEST(ThreadPool, FirstUsedByTwoThreads_IsMadeOnce) {
  rushlight::compat::testing::expect_first_use_by_two_threads(
      [] { return get_threadpool()->get_thread_count() > 0; }, process_has_the_threads_of_one_pool);
}

}  // namespace
