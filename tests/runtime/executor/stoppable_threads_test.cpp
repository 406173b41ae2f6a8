// SPDX-License-Identifier: BSD-3-Clause
// The threads of a kernel that may be interrupted.
#include "runtime/executor/stoppable_threads.h"

#include <atomic>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernel/context.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/module/host_threads.h"

namespace rushlight {
namespace {

// Says no from its `last` question on; null pools and pools are asked alike.
class Limited final : public Interrupt {
 public:
  explicit Limited(int last) : last_(last) {}
  Error poll(uint64_t* next) override {
    *next = 1;
    return ++polls >= last_ ? Error::InvalidState : Error::Ok;
  }
  int polls = 0;

 private:
  int last_;
};

constexpr size_t kItems = 10'000;

class Stoppable : public ::testing::TestWithParam<size_t> {
 protected:
  // How often each item was worked on, by a kernel that shares them.
  std::vector<int> work(StoppableThreads& threads) {
    std::vector<std::atomic<int>> touched(kItems);
    KernelContext context(nullptr, nullptr, kernel_, 0, &threads);
    context.parallel_for(kItems, 10, [&](size_t begin, size_t end, size_t thread) {
      EXPECT_LT(thread, context.threads());
      for (size_t i = begin; i < end; ++i) touched[i].fetch_add(1);
    });
    return {touched.begin(), touched.end()};
  }

  std::shared_ptr<HostThreads> pool_ = GetParam() == 0 ? nullptr : HostThreads::start(GetParam());
  KernelEntry kernel_ = {};
};

TEST_P(Stoppable, DoAllOnce_WhenNobodyStopsThem) {
  Limited interrupt(1'000'000);
  StoppableThreads threads(pool_.get(), &interrupt);
  EXPECT_EQ(work(threads), std::vector<int>(kItems, 1));
  EXPECT_EQ(threads.error(), Error::Ok);
  EXPECT_GT(interrupt.polls, 0);
}

TEST_P(Stoppable, LeaveOutTheRest_WhenTheyAreStopped) {
  Limited interrupt(1);
  StoppableThreads threads(pool_.get(), &interrupt);
  const std::vector<int> touched = work(threads);
  EXPECT_EQ(threads.error(), Error::InvalidState);
  if (threads.threads() == 1) {
    EXPECT_LT(std::accumulate(touched.begin(), touched.end(), size_t{0}), kItems / 10);
  }
  // Nor is anything begun afterwards.
  EXPECT_EQ(work(threads), std::vector<int>(kItems, 0));
}

INSTANTIATE_TEST_SUITE_P(All, Stoppable, ::testing::Values(0, 1, 3));

}  // namespace
}  // namespace rushlight
