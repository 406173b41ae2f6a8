// SPDX-License-Identifier: BSD-3-Clause
// UTF-8 to code points and back. Bytes that are no UTF-8 are read one by one as U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rushlight::llm {

inline constexpr uint32_t kReplacement = 0xFFFD;
inline constexpr uint32_t kCodePoints = 0x110000;

struct Character {
  uint32_t code_point;
  uint32_t bytes;        // taken from the text
  bool valid;            // false: the bytes begin no character
  bool partial = false;  // the text ends inside of what could be a character
};

// The character at the start of `text`, which is not empty. An invalid one has the bytes of the longest
// beginning of a character (Unicode, chapter 3.9, "maximal subpart"), at least one.
inline Character first_character(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return {lead, 1, true};
  const uint32_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {kReplacement, 1, false};
  // The second byte's range keeps out overlong forms, surrogates and numbers past U+10FFFF.
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  uint32_t code_point = lead & (0xFFu >> (length + 1));
  for (uint32_t i = 1; i < length; ++i) {
    if (i >= text.size()) return {kReplacement, i, false, true};
    if (at(i) < low || at(i) > high) return {kReplacement, i, false};
    code_point = code_point << 6 | (at(i) & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, length, true};
}

inline void append_character(uint32_t code_point, std::string* text) {
  const auto put = [&](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  const auto rest = [&](unsigned shift) { put(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    rest(6);
  } else {
    put(0xF0 | code_point >> 18);
    rest(12);
    rest(6);
  }
  rest(0);
}

}  // namespace rushlight::llm
