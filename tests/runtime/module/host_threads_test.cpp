// SPDX-License-Identifier: BSD-3-Clause
// Each item counts how often it was processed, and by which thread: an item that is missing or processed
// twice is a race in the pool.
#include "runtime/module/host_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/kernel/context.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/module/thread_share.h"

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

// The sizes of the pieces of `count` items, in order; each must begin at a multiple of `unit`.
std::vector<size_t> pieces_of(ThreadPool* pool, size_t count, size_t grain, size_t unit) {
  KernelContext context(nullptr, nullptr, kEntry, 0, pool);
  std::mutex mutex;
  std::vector<size_t> begins;
  context.parallel_for(count, grain, [&](size_t begin, size_t end, size_t) {
    const std::lock_guard<std::mutex> lock(mutex);
    begins.push_back(begin);
    EXPECT_LE(end, count);
    EXPECT_EQ(begin % unit, 0U);
  });
  std::sort(begins.begin(), begins.end());
  std::vector<size_t> sizes;
  for (size_t i = 0; i < begins.size(); ++i) {
    sizes.push_back((i + 1 < begins.size() ? begins[i + 1] : count) - begins[i]);
  }
  return sizes;
}

// Dynamic threads are equally busy if each takes as many pieces, and all pieces are alike.
TEST(HostThreads, DivideWorkIntoEquallyManyPiecesOfOneSize) {
  for (const size_t threads : {2, 3, 8}) {
    const auto pool = HostThreads::start(threads);
    for (const size_t count : {14, 49, 150, 1001, 100'003}) {
      for (const size_t grain : {1, 10, 20'000}) {
        if (count <= grain) continue;
        const size_t unit = grain == 20'000 ? 16 : 1;
        const std::vector<size_t> sizes = pieces_of(pool.get(), count, grain, unit);
        if (sizes.size() > threads)
          EXPECT_EQ(sizes.size() % threads, 0U) << count << " items, grain " << grain;
        const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
        EXPECT_LE(*most - *least, 2 * unit) << count << " items, grain " << grain;
        EXPECT_GE(2 * *least, grain - 2 * unit + 1) << count << " items, grain " << grain;
      }
    }
  }
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

// True if the pieces of a round are processed by two threads at once: each waits for the other.
bool meet(ThreadPool& pool, size_t most) {
  struct Work {
    std::atomic<int> arrived{0};
    std::atomic<bool> late{false};
  } both;
  pool.run_limited(
      2, 1,
      [](void* data, size_t, size_t, size_t) {
        Work& work = *static_cast<Work*>(data);
        ++work.arrived;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (work.arrived.load() < 2 && !work.late.load()) {
          std::this_thread::yield();
          if (std::chrono::steady_clock::now() > end) work.late = true;
        }
      },
      &both, most);
  return both.arrived.load() == 2 && !both.late.load();
}

TEST(HostThreads, HelpARoundInsideOfARound) {
  const auto pool = HostThreads::start(4);
  KernelContext context(nullptr, nullptr, kEntry, 0, pool.get());
  std::atomic<int> met{0};
  std::atomic<int> begun{0};
  // Two outer pieces on two threads; each opens a round that needs one more.
  context.parallel_for(2, 1, [&](size_t, size_t, size_t) {
    ++begun;
    while (begun.load() < 2) std::this_thread::yield();
    if (meet(*pool, 2)) ++met;
  });
  EXPECT_EQ(met.load(), 2);
}

TEST(HostThreads, HelpSeveralCallersAtOnce) {
  const auto pool = HostThreads::start(4);
  std::atomic<int> begun{0};
  std::atomic<int> met{0};
  const auto call = [&] {
    const HostThreads::Computing computing(pool.get());
    ++begun;
    while (begun.load() < 2) std::this_thread::yield();
    if (meet(*pool, 2)) ++met;
  };
  std::thread other(call);
  call();
  other.join();
  EXPECT_EQ(met.load(), 2);
}

// The numbers of threads that processed items; each item takes some time, so that every thread could take
// one.
size_t largest_thread(ThreadPool& pool, size_t most) {
  Marks marks(64);
  pool.run_limited(
      64, 1,
      [](void* work, size_t begin, size_t end, size_t thread) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        for (size_t i = begin; i < end; ++i) {
          ++static_cast<Marks*>(work)->times[i];
          static_cast<Marks*>(work)->by[i] = thread;
        }
      },
      &marks, most);
  EXPECT_TRUE(all_once(marks));
  return *std::max_element(marks.by.begin(), marks.by.end());
}

TEST(HostThreads, KeepToALimit) {
  const auto pool = HostThreads::start(4);
  for (const size_t most : {1, 2, 3}) EXPECT_LT(largest_thread(*pool, most), most);
  EXPECT_LT(largest_thread(*pool, 99), 4U);
  EXPECT_LT(largest_thread(*pool, 0), 1U);
}

TEST(ThreadShare, IsAPoolOfThatManyThreads) {
  const auto pool = HostThreads::start(4);
  ThreadShare share(*pool, 2);
  EXPECT_EQ(share.threads(), 2U);
  EXPECT_TRUE(meet(share, 2));
  EXPECT_LT(largest_thread(share, 4), 2U);
  EXPECT_LT(largest_thread(share, 1), 1U);
}

// A pool of an application, which knows no limits.
class OwnPool final : public ThreadPool {
 public:
  [[nodiscard]] size_t threads() const override { return 3; }
  void run(size_t count, size_t, Task task, void* work) override { task(work, 0, count, 2); }
};

TEST(ThreadShare, LeavesTheWorkToTheCaller_WhereThePoolHasNoLimits) {
  OwnPool pool;
  ThreadShare part(pool, 2);
  EXPECT_EQ(largest_thread(part, 2), 0U);
  ThreadShare whole(pool, 3);
  EXPECT_EQ(largest_thread(whole, 3), 2U);
}

TEST(HostThreads, DoNotHelp_WhileAsManyThreadsCompute) {
  const auto pool = HostThreads::start(2);
  const HostThreads::Computing computing(pool.get());
  std::thread other([&] {
    const HostThreads::Computing also(pool.get());
    EXPECT_EQ(largest_thread(*pool, 2), 0U);
  });
  other.join();
  EXPECT_TRUE(meet(*pool, 2));  // the other has ended
}

TEST(HostThreads, WaitForWorkersThatStayLong) {
  const auto pool = HostThreads::start(2);
  KernelContext context(nullptr, nullptr, kEntry, 0, pool.get());
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  // The caller's piece ends at once; the worker's lasts longer than the caller spins.
  context.parallel_for(2, 1, [&](size_t, size_t, size_t thread) {
    ++begun;
    while (begun.load() < 2) std::this_thread::yield();
    if (thread != 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++ended;
  });
  EXPECT_EQ(ended.load(), 2);
}

// ---- Jobs ----

TEST(HostThreads, RunJobsInOrder_AsManyAtOnceAsThreads) {
  for (const size_t threads : {1, 2}) {
    auto pool = HostThreads::start(threads);
    std::atomic<size_t> running{0};
    std::atomic<size_t> most{0};
    std::mutex mutex;
    std::vector<int> begun;
    for (int job = 0; job < 20; ++job) {
      pool->submit([&, job] {
        {
          // The mutex orders jobs that begin at about the same time.
          const std::lock_guard<std::mutex> lock(mutex);
          begun.push_back(job);
          most = std::max(most.load(), ++running);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        --running;
      });
    }
    pool.reset();  // waits for all of them
    EXPECT_EQ(begun.size(), 20U);
    EXPECT_EQ(most.load(), threads);
    if (threads == 1) {
      EXPECT_TRUE(std::is_sorted(begun.begin(), begun.end()));
    }
  }
}

TEST(HostThreads, HelpAJobThatComputes) {
  const auto pool = HostThreads::start(2);
  std::promise<bool> met;
  pool->submit([&] { met.set_value(meet(*pool, 2)); });
  EXPECT_TRUE(met.get_future().get());
}

TEST(HostThreads, MayBeDroppedByOneOfTheirJobs) {
  std::atomic<int> ran{0};
  for (const size_t threads : {1, 3}) {
    auto pool = HostThreads::start(threads);
    HostThreads* address = pool.get();
    address->submit([&ran, address, kept = std::move(pool)] {
      for (int i = 0; i < 5; ++i) address->submit([&ran] { ++ran; });
    });
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (ran.load() < 10 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(ran.load(), 10);
}

TEST(HostThreads, AreSharedByThoseWhoAskForAsMany) {
  const auto two = HostThreads::shared(2);
  EXPECT_EQ(HostThreads::shared(2), two);
  EXPECT_NE(HostThreads::shared(3), two);
  EXPECT_GE(HostThreads::default_count(), 1U);
}

TEST(HostThreads, ArePlainCalls_InAChildProcess) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not support threads in a child of a process with threads";
#endif
  const auto pool = HostThreads::start(2);
  Marks before(100);
  mark(pool.get(), 1, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    Marks marks(100);
    mark(pool.get(), 1, &marks);
    const bool fresh = HostThreads::shared(2)->threads() == 2;
    bool ran = false;
    pool->submit([&] { ran = true; });
    ::_exit(all_once(marks) && pool->threads() == 1 && fresh && ran ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace rushlight
