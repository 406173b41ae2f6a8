// SPDX-License-Identifier: BSD-3-Clause
#include "backends/calls/constant_pool.h"

#include <numeric>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

std::vector<uint8_t> counted(size_t size, uint8_t first = 0) {
  std::vector<uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

Span<const uint8_t> view(const std::vector<uint8_t>& bytes) { return {bytes.data(), bytes.size()}; }

TEST(ConstantPool, EqualBytes_AreTheFirstOnes) {
  ConstantPool pool;
  for (const size_t size : {ConstantPool::kSmall + 1, ConstantPool::kSmall + 7, 3 * ConstantPool::kSmall}) {
    const std::vector<uint8_t> first = counted(size), second = first, other = counted(size, 1);
    EXPECT_EQ(pool.refer(view(first)).data(), first.data());
    EXPECT_EQ(pool.refer(view(second)).data(), first.data());
    EXPECT_EQ(pool.refer(view(other)).data(), other.data());
  }
  EXPECT_EQ(pool.kept_bytes(), 0u);
}

TEST(ConstantPool, SmallOnes_AreCopiedOnce) {
  ConstantPool pool;
  size_t kept = 0;
  for (const size_t size : {size_t{1}, size_t{7}, size_t{16}, size_t{1000}, ConstantPool::kSmall}) {
    const std::vector<uint8_t> first = counted(size), second = first, other = counted(size, 1);
    const auto copy = pool.refer(view(first));
    EXPECT_NE(copy.data(), first.data());
    EXPECT_EQ(std::vector<uint8_t>(copy.begin(), copy.end()), first);
    EXPECT_EQ(pool.refer(view(second)).data(), copy.data());
    EXPECT_EQ(pool.refer(copy).data(), copy.data());
    EXPECT_NE(pool.refer(view(other)).data(), copy.data());
    kept += 2 * size;
  }
  EXPECT_EQ(pool.kept_bytes(), kept);
}

TEST(ConstantPool, BytesThatDifferAnywhere_AreNotShared) {
  ConstantPool pool;
  const std::vector<uint8_t> first = counted(ConstantPool::kSmall + 500);
  static_cast<void>(pool.refer(view(first)));
  std::vector<std::vector<uint8_t>> others;
  for (size_t i = 0; i < first.size(); i += 97) {
    std::vector<uint8_t>& other = others.emplace_back(first);
    other[i] ^= 1;
    EXPECT_EQ(pool.refer(view(other)).data(), other.data()) << i;
  }
}

TEST(ConstantPool, BytesOfAnotherAlignment_AreNotShared) {
  ConstantPool pool;
  constexpr size_t kSize = ConstantPool::kSmall + 64;
  const std::vector<uint8_t> first = counted(kSize), moved = counted(kSize + 1, 255);
  EXPECT_EQ(pool.refer(view(first)).data(), first.data());
  EXPECT_EQ(pool.refer(view(moved).subspan(1, kSize)).data(), moved.data() + 1);
}

TEST(ConstantPool, Kept_IsCountedOnce) {
  ConstantPool pool;
  const auto kept = pool.keep(counted(100));
  EXPECT_EQ(pool.keep(counted(100)).data(), kept.data());
  EXPECT_EQ(pool.kept_bytes(), 100u);
  EXPECT_EQ(view(counted(100)).size(), kept.size());
  EXPECT_EQ(counted(100), std::vector<uint8_t>(kept.begin(), kept.end()));
}

TEST(ConstantPool, ABufferThatIsKnown_IsFreed) {
  int freed = 0;
  const auto free = [](void* count, void*, size_t) { ++*static_cast<int*>(count); };
  const std::vector<uint8_t> one = counted(32), same = counted(32);
  {
    ConstantPool pool;
    EXPECT_EQ(pool.keep(FreeableBuffer(one.data(), 32, free, &freed)).data(), one.data());
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(pool.keep(FreeableBuffer(same.data(), 32, free, &freed)).data(), one.data());
    EXPECT_EQ(freed, 1);
  }
  EXPECT_EQ(freed, 2);
}

TEST(ConstantPool, ABufferOfSomebodyElse_IsReferredTo) {
  ConstantPool pool;
  const std::vector<uint8_t> small = counted(32), large = counted(2 * ConstantPool::kSmall);
  EXPECT_NE(pool.keep(FreeableBuffer(small.data(), small.size())).data(), small.data());
  EXPECT_EQ(pool.keep(FreeableBuffer(large.data(), large.size())).data(), large.data());
  EXPECT_EQ(pool.kept_bytes(), 32u);
}

TEST(ConstantPool, Nothing_IsNothing) {
  ConstantPool pool;
  EXPECT_TRUE(pool.refer({}).empty());
  EXPECT_TRUE(pool.keep(std::vector<uint8_t>()).empty());
  EXPECT_EQ(pool.kept_bytes(), 0u);
}

}  // namespace
}  // namespace rushlight
