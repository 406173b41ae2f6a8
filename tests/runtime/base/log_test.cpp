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

TEST(Log, ShowsHiddenCharactersAsEscapes) {
  struct Case {
    const char* text;
    const char* shown;
  };
  const Case cases[] = {
      {"\t na\xC3\xAFve \xE6\x97\xA5 \xF0\x9F\x99\x82", "\t na\xC3\xAFve \xE6\x97\xA5 \xF0\x9F\x99\x82"},
      {"a\x1B[2Jb\nc\x7F", "a\\x1b[2Jb\\x0ac\\x7f"},
      {"\xC2\x9B|\xC2\xA0|\xC2\xAD", "\\xc2\\x9b|\xC2\xA0|\\xc2\\xad"},
      {"\xE2\x80\xAE|\xE2\x80\x90|\xE2\x81\xA6|\xEF\xBB\xBF|\xD8\x9C",
       "\\xe2\\x80\\xae|\xE2\x80\x90|\\xe2\\x81\\xa6|\\xef\\xbb\\xbf|\\xd8\\x9c"},
      {"\x9B|\xE2\x80|\xFF", "\\x9b|\\xe2\\x80|\\xff"},
      {"\xF3\xA0\x81\x81", "\\xf3\\xa0\\x81\\x81"},
  };
  for (const Case& each : cases) {
    ::testing::internal::CaptureStderr();
    RL_LOG(Error, "%s", each.text);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), std::string("error: ") + each.shown + "\n");
  }
}

TEST(Log, CutsLongLines_InsteadOfOverflowing) {
  const std::string text(1000, 'x');
  ::testing::internal::CaptureStderr();
  RL_LOG(Error, "%s", text.c_str());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "error: " + std::string(255, 'x') + "\n");
}

}  // namespace
}  // namespace rushlight
