// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/result.h"

#include <memory>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

Result<int> half_of(int value) {
  if (value % 2 != 0) return Error::InvalidArgument;
  return value / 2;
}

Error store_quarter(int value, int* quarter) {
  RL_TRY_ASSIGN(const int half, half_of(value));
  RL_TRY_ASSIGN(*quarter, half_of(half));
  return Error::Ok;
}

TEST(Result, HoldsValue_OfSuccess) {
  const Result<int> result = half_of(8);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.error(), Error::Ok);
  EXPECT_EQ(*result, 4);
}

TEST(Result, HoldsError_OfFailure) {
  const Result<int> result = half_of(7);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.error(), Error::InvalidArgument);
}

TEST(Result, MovesItsValueOut_OfMoveOnlyType) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  Result<std::unique_ptr<int>> moved(std::move(result));
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(**moved, 3);
}

TEST(Result, DestroysItsValueOnce_AfterMove) {
  const auto counted = std::make_shared<int>(1);
  {
    Result<std::shared_ptr<int>> first(counted);
    Result<std::shared_ptr<int>> second(std::move(first));
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(TryAssign, PassesFirstError_LeavesTargetAlone) {
  int quarter = -1;
  EXPECT_EQ(store_quarter(6, &quarter), Error::InvalidArgument);
  EXPECT_EQ(quarter, -1);
  EXPECT_EQ(store_quarter(12, &quarter), Error::Ok);
  EXPECT_EQ(quarter, 3);
}

TEST(ErrorCodes, HaveTheNumbersOfExecuTorch) {
  EXPECT_EQ(static_cast<uint32_t>(Error::Ok), 0u);
  EXPECT_EQ(static_cast<uint32_t>(Error::InvalidArgument), 0x12u);
  EXPECT_EQ(static_cast<uint32_t>(Error::OperatorMissing), 0x14u);
  EXPECT_EQ(static_cast<uint32_t>(Error::InvalidProgram), 0x23u);
  EXPECT_EQ(static_cast<uint32_t>(Error::DelegateInvalidHandle), 0x32u);
}

TEST(ErrorCodes, AreSpelledAsInTheHeader_UnknownOtherwise) {
  EXPECT_STREQ(to_string(Error::MemoryAllocationFailed), "MemoryAllocationFailed");
  EXPECT_STREQ(to_string(static_cast<Error>(0x99)), "Unknown");
}

}  // namespace
}  // namespace rushlight
