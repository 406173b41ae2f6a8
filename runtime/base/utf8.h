// SPDX-License-Identifier: BSD-3-Clause
// Text that was cut to fit a buffer, and must not end inside of a character.
#pragma once

#include <cstddef>

namespace rushlight {

// How many of the `length` bytes of `text` to keep: all, or all but the beginning of a UTF-8 character whose
// other bytes were cut off.
inline size_t without_partial_character(const char* text, size_t length) {
  constexpr size_t kLongest = 4;
  for (size_t back = 1; back <= kLongest && back <= length; ++back) {
    const auto byte = static_cast<unsigned char>(text[length - back]);
    if ((byte & 0xC0) == 0x80) continue;  // not the first of its character
    const size_t bytes = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return bytes > back ? length - back : length;
  }
  return length;
}

}  // namespace rushlight
