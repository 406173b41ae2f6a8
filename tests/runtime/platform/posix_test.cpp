// SPDX-License-Identifier: BSD-3-Clause
// The host platform of the runner: files and the clock.
#include <chrono>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"

namespace rushlight {
namespace {

using platform::FileMode;

void write(const std::string& path, const char* text) {
  const int file = platform::file_open(path.c_str(), FileMode::Write);
  ASSERT_GE(file, 0);
  EXPECT_EQ(platform::file_write(file, text, std::strlen(text)), std::strlen(text));
  platform::file_close(file);
}

TEST(HostFile, WrittenAgain_HasTheNewContentAlone) {
  const std::string path = ::testing::TempDir() + "rushlight_host_file_test";
  write(path, "longer than what follows");
  write(path, "short");
  const int file = platform::file_open(path.c_str(), FileMode::Read);
  ASSERT_GE(file, 0);
  EXPECT_EQ(platform::file_size(file), 5);
  char text[32] = {};
  EXPECT_EQ(platform::file_read(file, text, sizeof text), 5u);
  EXPECT_STREQ(text, "short");
  platform::file_close(file);
}

TEST(Clock, CountsFromWhereTheSystemsDoes) {
  const auto system = std::chrono::steady_clock::now().time_since_epoch();
  const auto now = std::chrono::nanoseconds(platform::now_ns());
  EXPECT_LT(now - system, std::chrono::minutes(1));
  EXPECT_GE(now, system);
}

}  // namespace
}  // namespace rushlight
