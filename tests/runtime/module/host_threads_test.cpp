// SPDX-License-Identifier: BSD-3-Clause
// Each item counts how often it was processed, and by which thread: an item that is missing or processed
// twice is a race in the pool.
#include "runtime/module/host_threads.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/kernel/context.h"
#include "runtime/kernel/operator_table.h"

namespace rushlight {
namespace {

const KernelEntry kEntry = {"test::none", nullptr, "", nullptr};

// How often each item was worked on, and the threads that did.
struct Marks {
  explicit Marks(size_t count) : times(count), by(count) {}
  std::vector<int> times;
  std::vector<size_t> by;
};

void mark(ThreadPool* pool, size_t grain, Marks* marks) {
  KernelContext context(nullptr, nullptr, kEntry, 0, pool);
  context.parallel_for(marks->times.size(), grain, [&](size_t begin, size_t end, size_t thread) {
    for (size_t i = begin; i < end; ++i) {
      ++marks->times[i];
      marks->by[i] = thread;
    }
  });
}

bool all_once(const Marks& marks) {
  return std::all_of(marks.times.begin(), marks.times.end(), [](int n) { return n == 1; });
}

TEST(HostThreads, WorkOnEachItemOnce) {
  for (const size_t threads : {1, 2, 3, 8}) {
    const auto pool = HostThreads::start(threads);
    ASSERT_EQ(pool->threads(), threads);
    for (const size_t count : {0, 1, 2, 7, 64, 1000}) {
      for (const size_t grain : {1, 3, 100}) {
        Marks marks(count);
        mark(pool.get(), grain, &marks);
        EXPECT_TRUE(all_once(marks)) << threads << " threads, " << count << " items, grain " << grain;
        for (const size_t thread : marks.by) EXPECT_LT(thread, threads);
      }
    }
  }
}

TEST(HostThreads, LeaveWhatIsNoMoreThanTheGrain_ToTheCaller) {
  const auto pool = HostThreads::start(4);
  Marks marks(50);
  mark(pool.get(), 50, &marks);
  EXPECT_TRUE(all_once(marks));
  EXPECT_EQ(std::accumulate(marks.by.begin(), marks.by.end(), size_t{0}), 0U);
}

TEST(HostThreads, ShareTheWork) {
  const auto pool = HostThreads::start(2);
  KernelContext context(nullptr, nullptr, kEntry, 0, pool.get());
  std::atomic<int> arrived{0};
  // Each of two pieces waits for the other: one thread alone would never end.
  context.parallel_for(2, 1, [&](size_t, size_t, size_t) {
    ++arrived;
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(HostThreads, ServeSeveralCallersAtOnce) {
  const auto pool = HostThreads::start(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        Marks marks(97);
        mark(pool.get(), 1, &marks);
        if (!all_once(marks)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(HostThreads, WorkWithinWork_OnTheSameThread) {
  const auto pool = HostThreads::start(2);
  KernelContext context(nullptr, nullptr, kEntry, 0, pool.get());
  std::vector<Marks> inner(8, Marks(30));
  context.parallel_for(inner.size(), 1, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) mark(pool.get(), 1, &inner[i]);
  });
  for (const Marks& marks : inner) EXPECT_TRUE(all_once(marks));
}

TEST(HostThreads, AreSharedByThoseWhoAskForAsMany) {
  const auto two = HostThreads::shared(2);
  EXPECT_EQ(HostThreads::shared(2), two);
  EXPECT_NE(HostThreads::shared(3), two);
  EXPECT_GE(HostThreads::default_count(), 1U);
}

TEST(HostThreads, ArePlainCalls_InAChildProcess) {
  const auto pool = HostThreads::start(2);
  Marks before(100);
  mark(pool.get(), 1, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    Marks marks(100);
    mark(pool.get(), 1, &marks);
    const bool fresh = HostThreads::shared(2)->threads() == 2;
    ::_exit(all_once(marks) && pool->threads() == 1 && fresh ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace rushlight
