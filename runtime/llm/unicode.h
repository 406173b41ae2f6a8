// SPDX-License-Identifier: BSD-3-Clause
// Decodes and encodes UTF-8 for tokenizers. Invalid sequences decode to U+FFFD, one for each maximal subpart,
// as in Python and Rust.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rushlight::llm {

// The replacement character, and the number of code points (one more than the greatest).
inline constexpr uint32_t kReplacement = 0xFFFD;
inline constexpr uint32_t kCodePoints = 0x110000;

// A decoded character.
struct Character {
  uint32_t code_point;
  uint32_t bytes;        // length in the text
  bool valid;            // false: the bytes are not UTF-8
  bool partial = false;  // the text ends inside a possible character
};

// Decodes the character at the start of `text`, which is not empty. An invalid sequence has the length of its
// maximal subpart (Unicode, section 3.9), at least one byte.
inline Character first_character(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return {lead, 1, true};
  const uint32_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {kReplacement, 1, false};
  // The range of the second byte excludes overlong forms, surrogates and values above U+10FFFF.
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

// Appends a code point as 1 to 4 bytes of UTF-8. Precondition: code_point < kCodePoints.
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
