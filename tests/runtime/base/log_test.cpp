// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/log.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace rushlight {
namespace {

Error refuse_negative(int value) {
  RL_CHECK(value >= 0, Error::InvalidArgument, "value: expected 0 or more, got %d", value);
  return Error::Ok;
}

TEST(Check, LogsOneLineAndReturnsTheCode_WhenTheConditionFails) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(refuse_negative(-3), Error::InvalidArgument);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "error: value: expected 0 or more, got -3\n");
}

TEST(Check, SaysNothing_WhenTheConditionHolds) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(refuse_negative(3), Error::Ok);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Log, DropsLevelsBelowTheBuilds) {
  ::testing::internal::CaptureStderr();
  RL_LOG(Debug, "not at level %d", RUSHLIGHT_LOG_LEVEL);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.empty(), RUSHLIGHT_LOG_LEVEL > 0);
}

TEST(Log, CutsLongLines_InsteadOfOverflowing) {
  const std::string text(1000, 'x');
  ::testing::internal::CaptureStderr();
  RL_LOG(Error, "%s", text.c_str());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "error: " + std::string(255, 'x') + "\n");
}

}  // namespace
}  // namespace rushlight
