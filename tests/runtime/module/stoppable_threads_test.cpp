// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/stoppable_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernel/context.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/module/host_threads.h"
#include "runtime/module/thread_share.h"

namespace rushlight {
namespace {

const KernelEntry kEntry = {"test::none", nullptr, "", nullptr};

// Interrupts once, at poll number `questions` + 1.
class Patience final : public Interrupt {
 public:
  explicit Patience(int questions) : left_(questions) {}
  Error poll(uint64_t* next) override {
    *next = 1;
    if (left_-- != 0) return Error::Ok;  // once, as a signal arrives once
    has_spoken_ = true;
    return Error::Internal;
  }
  bool has_spoken() const { return has_spoken_; }

 private:
  int left_;
  std::atomic<bool> has_spoken_{false};
};

// Counts how often each of 1000 items was processed. With `patience` each item takes half a millisecond, and
// all threads but the caller's, which alone polls, stay in their first item until the interrupt has spoken:
// the result does not depend on the machine's load.
std::vector<int> work(StoppableThreads& threads, const Patience* patience = nullptr, size_t grain = 1) {
  std::vector<int> times(1000);
  const auto caller = std::this_thread::get_id();
  KernelContext context(nullptr, nullptr, kEntry, 0, &threads);
  context.parallel_for(times.size(), grain, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      ++times[i];
      if (patience == nullptr) continue;
      do {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      } while (std::this_thread::get_id() != caller && !patience->has_spoken());
    }
  });
  return times;
}

size_t done(const std::vector<int>& times) {
  return static_cast<size_t>(std::count(times.begin(), times.end(), 1));
}

TEST(StoppableThreads, DoEachItemOnce_WhereNobodyStopsThem) {
  for (const size_t threads : {1, 2, 5}) {
    const auto pool = HostThreads::start(threads);
    Patience patience(1 << 30);
    StoppableThreads stoppable(*pool, patience);
    stoppable.listen();
    for (const size_t grain : {0, 1, 7, 999}) EXPECT_EQ(done(work(stoppable, nullptr, grain)), 1000u);
    EXPECT_EQ(stoppable.finish(Error::Ok), Error::Ok);
  }
}

TEST(StoppableThreads, LeaveTheRestOut_WhenTheInterruptSaysSo) {
  for (const size_t threads : {1, 2}) {
    const auto pool = HostThreads::start(threads);
    Patience patience(2);
    StoppableThreads stoppable(*pool, patience);
    stoppable.listen();
    EXPECT_LT(done(work(stoppable, &patience)), 900u);
    EXPECT_EQ(done(work(stoppable)), 0u);  // nor what follows
    uint64_t next = 0;
    EXPECT_EQ(stoppable.poll(&next), Error::Internal);  // ends the executor's loops
    EXPECT_EQ(stoppable.finish(Error::InvalidArgument), Error::Internal);
    stoppable.listen();
    EXPECT_EQ(stoppable.finish(Error::InvalidArgument), Error::InvalidArgument);
  }
}

TEST(StoppableThreads, PollOnTheListeningThreadOnly_AndStopOthers) {
  const auto pool = HostThreads::start(2);
  Patience patience(0);
  StoppableThreads stoppable(*pool, patience);
  stoppable.listen();
  uint64_t next = 0;
  std::thread([&] { EXPECT_EQ(stoppable.poll(&next), Error::Ok); }).join();
  EXPECT_EQ(next, 1u);
  EXPECT_FALSE(patience.has_spoken());
  EXPECT_EQ(stoppable.poll(&next), Error::Internal);
  std::thread([&] { EXPECT_EQ(stoppable.poll(&next), Error::Internal); }).join();
  EXPECT_EQ(stoppable.finish(Error::Ok), Error::Internal);
}

TEST(StoppableThreads, KeepToALimit) {
  const auto pool = HostThreads::start(4);
  Patience patience(1 << 30);
  StoppableThreads stoppable(*pool, patience);
  ThreadShare share(stoppable, 2);
  for (const bool listens : {false, true}) {
    if (listens) stoppable.listen();
    std::atomic<size_t> largest{0};
    KernelContext context(nullptr, nullptr, kEntry, 0, &share);
    context.parallel_for(100, 1, [&](size_t, size_t, size_t thread) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (thread > largest) largest = thread;
    });
    EXPECT_LT(largest.load(), 2u);
  }
}

TEST(StoppableThreads, LeaveTheWorkToTheirCaller_WhenItIsAlone) {
  const auto pool = HostThreads::start(3);
  Patience patience(1 << 30);
  StoppableThreads stoppable(*pool, patience);
  for (const bool listens : {false, true}) {
    if (listens) stoppable.listen();
    for (const bool alone : {true, false}) {
      stoppable.set_alone(alone);
      EXPECT_EQ(stoppable.threads(), alone ? 1u : 3u);
      std::atomic<bool> is_shared{false};
      const auto caller = std::this_thread::get_id();
      KernelContext context(nullptr, nullptr, kEntry, 0, &stoppable);
      context.parallel_for(300, 1, [&](size_t, size_t, size_t thread) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (thread != 0 || std::this_thread::get_id() != caller) is_shared = true;
      });
      EXPECT_EQ(is_shared.load(), !alone);
    }
  }
}

TEST(StoppableThreads, CompleteTheirWork_WhileAMethodIsLoaded) {
  const auto pool = HostThreads::start(2);
  Patience patience(0);
  StoppableThreads stoppable(*pool, patience);
  EXPECT_EQ(done(work(stoppable)), 1000u);
}

}  // namespace
}  // namespace rushlight
