// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/memory/arena.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/base/checked.h"

namespace rushlight {
namespace {

TEST(Arena, GivesAllItHas_AndNotOneByteMore) {
  alignas(16) uint8_t memory[64];
  Arena arena(memory);
  EXPECT_EQ(arena.allocate(64), memory);
  EXPECT_EQ(arena.used(), 64u);
  EXPECT_NE(arena.allocate(0), nullptr);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(arena.allocate(1, 1), nullptr);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("1 short"), std::string::npos);
}

TEST(Arena, AlignsAddresses_NotOffsets) {
  alignas(16) uint8_t memory[64];
  Arena arena({memory + 1, 63});
  EXPECT_EQ(arena.allocate(1, 1), memory + 1);
  EXPECT_TRUE(is_aligned(arena.allocate(8, 16), 16));
  EXPECT_EQ(arena.used(), 23u);  // 15 to the first multiple of 16, and 8
}

TEST(Arena, KeepsWhatItGave_WhenItRefuses) {
  alignas(16) uint8_t memory[32];
  Arena arena(memory);
  ASSERT_NE(arena.allocate(20), nullptr);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.allocate_array<uint64_t>(SIZE_MAX / 4), nullptr);
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(arena.used(), 20u);
  EXPECT_EQ(arena.allocate_array<uint32_t>(2), reinterpret_cast<uint32_t*>(memory + 20));
}

TEST(Arena, StartsOver_AfterReset_AndRemembersItsPeak) {
  alignas(16) uint8_t memory[32];
  Arena arena(memory);
  ASSERT_NE(arena.allocate(24), nullptr);
  arena.reset();
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(arena.allocate(8), memory);
  EXPECT_EQ(arena.peak(), 24u);
}

TEST(Arena, HasNothing_WhenDefault) {
  Arena arena;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(arena.allocate(1), nullptr);
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace rushlight
