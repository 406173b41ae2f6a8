// SPDX-License-Identifier: BSD-3-Clause
// Cuts UTF-8 text to a buffer without splitting a character, for log messages in buffers of fixed size.
#pragma once

#include <cstddef>

namespace rushlight {

// Returns how many of the `length` bytes of `text` to keep: all of them, or all before a last UTF-8 character
// that is incomplete. Reads no more than the last 4 bytes.
inline size_t without_partial_character(const char* text, size_t length) {
  constexpr size_t kLongest = 4;
  for (size_t back = 1; back <= kLongest && back <= length; ++back) {
    const auto byte = static_cast<unsigned char>(text[length - back]);
    if ((byte & 0xC0) == 0x80) continue;  // a continuation byte
    const size_t bytes = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return bytes > back ? length - back : length;
  }
  return length;
}

}  // namespace rushlight
