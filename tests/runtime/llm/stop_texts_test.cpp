// SPDX-License-Identifier: BSD-3-Clause
// Every case is passed in pieces of 1 to 5 bytes, with one expected output: the division of a stream must not
// matter.
#include "runtime/llm/stop_texts.h"

#include <gtest/gtest.h>

namespace rushlight::llm {
namespace {

// The output for a text that is passed in pieces of `size` bytes; "|" marks the end by a stop text.
std::string passed(const std::vector<std::string>& stops, const std::string& text, size_t size) {
  StopTexts stop(stops);
  std::string out;
  for (size_t at = 0; at < text.size(); at += size) {
    if (stop.add(text.substr(at, size), &out)) return out + "|";
  }
  return out + stop.rest();
}

TEST(StopTexts, EndsBeforeTheTextThatIsCompleteFirst_HoweverItIsCut) {
  const struct {
    std::vector<std::string> stops;
    const char* text;
    const char* expected;
  } cases[] = {
      {{"END"}, "one two END three", "one two |"},
      {{"END"}, "one EN ENEND", "one EN EN|"},
      {{"aab"}, "aaaab", "aa|"},
      {{"abcX", "bc"}, "0abcX", "0a|"},
      {{"bc", "abcX"}, "0abc", "0a|"},
      {{"END"}, "one EN", "one EN"},
      {{}, "one", "one"},
      {{""}, "one", "one"},
      {{"one"}, "one", "|"},
      {{"\n\n", "\n"}, "a\n\n", "a|"},
  };
  for (const auto& each : cases) {
    for (size_t size = 1; size < 6; ++size)
      EXPECT_EQ(passed(each.stops, each.text, size), each.expected) << size;
  }
}

TEST(StopTexts, HoldsBackOnlyWhatMayBeOne) {
  StopTexts stop({"END"});
  std::string out;
  EXPECT_FALSE(stop.add("x E", &out));
  EXPECT_EQ(out, "x ");
  EXPECT_FALSE(stop.add("Nx", &out));
  EXPECT_EQ(out, "x ENx");
  EXPECT_EQ(stop.rest(), "");
}

}  // namespace
}  // namespace rushlight::llm
