// SPDX-License-Identifier: BSD-3-Clause
// Uses something for the first time from two threads at the same moment.
#pragma once

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rushlight::compat::testing {

// Returns true if `use` returns true in both threads.
inline bool works_in_two_threads(bool (*use)()) {
  std::atomic<int> ready{0};
  std::atomic<int> good{0};
  const auto run = [&] {
    ++ready;
    while (ready < 2) {
    }
    if (use()) ++good;
  };
  std::thread other(run);
  run();
  other.join();
  return good == 2;
}

// Expects that `use` works in both threads, and that `check` holds afterwards. A race shows in a part of the
// attempts only. Each attempt is a process, which has not used it before.
inline void expect_first_use_by_two_threads(bool (*use)(), bool (*check)() = [] { return true; }) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(works_in_two_threads(use) && check() ? 0 : 1);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "attempt " << attempt;
  }
}

}  // namespace rushlight::compat::testing
