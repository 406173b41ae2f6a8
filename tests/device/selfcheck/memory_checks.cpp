// SPDX-License-Identifier: BSD-3-Clause
// The memory functions against byte loops: every misalignment of source and destination, sizes beyond two
// blocks. Bytes around the destination are compared as well. A failure means that memcpy, memmove or memset
// of the image is wrong; no other result of the board can then be trusted.
#include "tests/device/selfcheck/memory_checks.h"

#include <cstdint>
#include <cstring>

namespace {

constexpr size_t kBytes = 192;
constexpr size_t kSizes[] = {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 79, 100, 131, 136};
alignas(16) uint8_t actual[kBytes];
uint8_t expected[kBytes];
alignas(16) uint8_t source[kBytes];

void fill() {
  for (size_t i = 0; i < kBytes; ++i) {
    source[i] = static_cast<uint8_t>(i * 7 + 3);
    actual[i] = expected[i] = static_cast<uint8_t>(i * 5 + 1);
  }
}

bool same() {
  for (size_t i = 0; i < kBytes; ++i) {
    if (actual[i] != expected[i]) return false;
  }
  return true;
}

bool copies(size_t to, size_t from, size_t size) {
  fill();
  for (size_t i = 0; i < size; ++i) expected[to + i] = source[from + i];
  return std::memcpy(actual + to, source + from, size) == actual + to && same();
}

bool moves(size_t to, size_t from, size_t size) {
  fill();
  for (size_t i = 0; i < size; ++i) expected[to + i] = actual[from + i];
  return std::memmove(actual + to, actual + from, size) == actual + to && same();
}

bool sets(size_t to, size_t size) {
  fill();
  for (size_t i = 0; i < size; ++i) expected[to + i] = 0xc5;
  return std::memset(actual + to, 0x1c5, size) == actual + to && same();
}

}  // namespace

const char* find_memory_mistake() {
  for (const size_t size : kSizes) {
    for (size_t to = 0; to < 9; ++to) {
      if (!sets(to, size)) return "memset";
      for (size_t from = 0; from < 9; ++from) {
        if (!copies(to, from, size)) return "memcpy";
        if (!moves(to, from, size)) return "memmove";
        if (!moves(to + 40, from, size)) return "memmove, farther up";
        if (!moves(to, from + 40, size)) return "memmove, farther down";
      }
    }
  }
  return nullptr;
}
