// SPDX-License-Identifier: BSD-3-Clause
// Random ranges and updates against a linear search over all members. Ranges are short and close together, so
// that they overlap often.
#include "runtime/executor/slot_set.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

constexpr uint32_t kNone = SlotSet::kNone;

bool overlap(const Slot& a, const Slot& b) { return a.begin < b.end && b.begin < a.end; }

std::vector<Slot> random_slots(size_t count, std::mt19937& random) {
  std::vector<Slot> slots(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uintptr_t begin = random() % 40;
    slots[i] = {begin, begin + 1 + random() % 12, i};
  }
  return slots;
}

TEST(SlotSet, SortsByOffset) {
  std::mt19937 random(1);  // NOLINT: the same each time
  for (size_t count = 0; count < 40; ++count) {
    std::vector<Slot> slots = random_slots(count, random);
    sort({slots.data(), slots.size()});
    EXPECT_TRUE(std::is_sorted(slots.begin(), slots.end(),
                               [](const Slot& a, const Slot& b) { return a.begin < b.begin; }));
    std::vector<bool> seen(count);
    for (const Slot& slot : slots) seen[slot.value] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<long>(count));
  }
}

TEST(SlotSet, FindsOneThatOverlaps_IfThereIsOne) {
  std::mt19937 random(2);  // NOLINT: the same each time
  for (size_t count = 1; count < 30; ++count) {
    std::vector<Slot> slots = random_slots(count, random);
    sort({slots.data(), slots.size()});
    std::vector<uint32_t> nodes(SlotSet::kNodes * count);
    SlotSet set({slots.data(), count}, nodes.data());
    std::vector<bool> in(count);
    for (int step = 0; step < 200; ++step) {
      const auto slot = static_cast<uint32_t>(random() % count);
      in[slot] = !in[slot];
      if (in[slot]) {
        set.insert(slot);
      } else {
        set.erase(slot);
      }
      EXPECT_EQ(set.has(slot), in[slot]);
      const Slot with = random_slots(1, random)[0];
      bool expected = false;
      for (size_t i = 0; i < count; ++i) expected = expected || (in[i] && overlap(slots[i], with));
      const uint32_t found = set.find(with);
      ASSERT_EQ(found != kNone, expected);
      if (found != kNone) {
        EXPECT_TRUE(in[found]);
        EXPECT_TRUE(overlap(slots[found], with));
      }
    }
  }
}

}  // namespace
}  // namespace rushlight
