// SPDX-License-Identifier: BSD-3-Clause
// Random lifetimes and sizes: plans are compared with the definition (no overlap while both live, aligned,
// within the total), not with fixed offsets, which may improve.
#include "backends/calls/plan.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

using Storage = CallList::Storage;

Storage storage(uint64_t bytes, size_t first, size_t last) {
  Storage made;
  made.bytes = bytes;
  made.first_use = first;
  made.last_use = last;
  return made;
}

bool meet(const Storage& a, const Storage& b) {
  return a.first_use <= b.last_use && b.first_use <= a.last_use;
}

TEST(PlanStorages, TensorsThatMeetInTime_DoNotOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Storage> storages;
    const size_t count = 1 + random() % 40;
    for (size_t i = 0; i < count; ++i) {
      const size_t first = random() % 20;
      storages.push_back(
          storage(random() % 3 == 0 ? random() % 8 : random() % 5000, first, first + random() % 6));
    }
    uint64_t bytes = 0;
    ASSERT_EQ(plan_storages(&storages, &bytes), Error::Ok);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(storages[i].offset % 64, 0u);
      EXPECT_LE(storages[i].offset + storages[i].bytes, bytes);
      for (size_t j = 0; j < i; ++j) {
        if (!meet(storages[i], storages[j])) continue;
        const uint64_t from = std::max(storages[i].offset, storages[j].offset);
        const uint64_t to =
            std::min(storages[i].offset + storages[i].bytes, storages[j].offset + storages[j].bytes);
        EXPECT_GE(from, to) << "round " << round << ": " << i << " and " << j;
      }
    }
  }
}

TEST(PlanStorages, AChain_TakesTheMemoryOfTwo) {
  std::vector<Storage> storages;
  for (size_t i = 0; i < 10; ++i) storages.push_back(storage(640, i, i + 1));
  uint64_t bytes = 0;
  ASSERT_EQ(plan_storages(&storages, &bytes), Error::Ok);
  EXPECT_EQ(bytes, 2 * 640u);
}

TEST(PlanStorages, InputsOutputsAndConstants_TakeNone) {
  std::vector<Storage> storages = {storage(100, 0, 1), storage(100, 0, 1)};
  storages[0].is_external = true;
  storages[1].constant = 0;
  uint64_t bytes = 1;
  ASSERT_EQ(plan_storages(&storages, &bytes), Error::Ok);
  EXPECT_EQ(bytes, 0u);
}

TEST(PlanStorages, TooManyBytes_AreRefused) {
  uint64_t bytes = 0;
  std::vector<Storage> one = {storage(UINT64_MAX, 0, 1)};
  EXPECT_EQ(plan_storages(&one, &bytes), Error::OutOfResources);
  std::vector<Storage> sum(3, storage((uint64_t{1} << 48) - 64, 0, 1));
  EXPECT_EQ(plan_storages(&sum, &bytes), Error::OutOfResources);
}

}  // namespace
}  // namespace rushlight
