// SPDX-License-Identifier: BSD-3-Clause
// An application's own platform: its functions are called, and log lines reach it whole.
#include <string>

#include <executorch/runtime/platform/clock.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

#include "runtime/base/utf8.h"

namespace {

using executorch::runtime::PalImpl;

int inits = 0;
std::string last_line;
size_t last_length = 0;

void count_init() { ++inits; }
void keep_line(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t, const char* message,
               size_t length) {
  last_line = message;
  last_length = length;
}

// Registers functions, and the old ones at the end.
class Registered {
 public:
  explicit Registered(PalImpl impl) : before_(*executorch::runtime::get_pal_impl()) {
    EXPECT_TRUE(executorch::runtime::register_pal(impl));
  }
  ~Registered() { executorch::runtime::register_pal(before_); }

 private:
  PalImpl before_;
};

TEST(Platform, WithAnInitOfItsOwn_IsInitialised) {
  inits = 0;
  const Registered registered(
      PalImpl::create(count_init, nullptr, nullptr, nullptr, keep_line, nullptr, nullptr, __FILE__));
  EXPECT_EQ(inits, 1);
  executorch::runtime::runtime_init();
  EXPECT_EQ(inits, 2);
}

TEST(Clock, WithARatioOfItsOwn_ConvertsByIt) {
  EXPECT_EQ(executorch::runtime::ticks_to_ns(7), 7u);
  const Registered registered(PalImpl::create(
      nullptr, nullptr, nullptr, [] { return et_tick_ratio_t{125, 3}; }, keep_line, nullptr, nullptr,
      __FILE__));
  EXPECT_EQ(executorch::runtime::ticks_to_ns(7), 291u);
}

TEST(Log, OfALongLine_EndsWithAWholeCharacter) {
  const Registered registered(PalImpl::create(keep_line, __FILE__));
  for (const char* character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    for (size_t lead = 0; lead < 4; ++lead) {
      std::string line(lead, 'x');
      while (line.size() < 400) line += character;
      ET_LOG(Error, "%s", line.c_str());
      EXPECT_EQ(last_line, line.substr(0, last_line.size()));
      EXPECT_EQ(last_length, last_line.size());
      EXPECT_LT(last_line.size(), 256u);
      EXPECT_GT(last_line.size(), 250u);
      EXPECT_EQ((last_line.size() - lead) % std::string(character).size(), 0u) << character << lead;
    }
  }
}

TEST(Log, OfAShortLine_IsKept) {
  const Registered registered(PalImpl::create(keep_line, __FILE__));
  ET_LOG(Error, "short \xC3\xA9");
  EXPECT_EQ(last_line, "short \xC3\xA9");
}

TEST(WithoutPartialCharacter, OfCutText_KeepsWholeOnes) {
  EXPECT_EQ(rushlight::without_partial_character("abc", 3), 3u);
  EXPECT_EQ(rushlight::without_partial_character("a\xC3\xA9", 3), 3u);
  EXPECT_EQ(rushlight::without_partial_character("a\xC3", 2), 1u);
  EXPECT_EQ(rushlight::without_partial_character("a\xF0\x9F\x98", 4), 1u);
  EXPECT_EQ(rushlight::without_partial_character("", 0), 0u);
  EXPECT_EQ(rushlight::without_partial_character("\x80\x80\x80\x80\x80", 5), 5u);  // no text: left alone
}

}  // namespace
