// SPDX-License-Identifier: BSD-3-Clause
// Errors without text, for builds too small for log strings: each failed check leaves one 32-bit record with
// its source position and its Error. `rushlight decode` translates records back to file, line and code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"

namespace rushlight {

// Format of a record: bits 0 to 5 hold the Error, bits 6 to 31 the position of the check, which is a hash of
// its file's path (from the root of the sources) and line. The sources serve as the symbol table, so the
// device holds no text and the build needs no list of files. In 3 of 1,000 versions of the sources, two of
// the 650 checks share one of the 2^26 hashes; `rushlight decode` then names both, unless the Error tells
// them apart.
//
// Two kinds of records carry a value in bits 6 to 31 instead. With code Ok it is the index of the instruction
// that failed. With kShortage, which is no Error, it is the number of missing bytes of memory, clamped to
// 2^26 - 1.
inline constexpr uint32_t kShortage = 0x3f;
// Number of records that are kept.
inline constexpr size_t kFailureRecords = 6;

// A snapshot of the most recent failures.
struct FailureTrace {
  // Number of valid records.
  uint32_t size = 0;
  uint32_t records[kFailureRecords];  // oldest first: the innermost check precedes its callers
};

// Returns the most recent failed checks of this process. Usable before main(); never cleared.
FailureTrace failure_trace();

// Returns the position bits of a record: FNV-1a over the path and two bytes of the line, cut to 26 bits and
// shifted left by 6.
constexpr uint32_t failure_position(const char* file, unsigned line) {
  constexpr uint32_t kPrime = 16777619u;
  uint32_t hash = 2166136261u;
  for (; *file != '\0'; ++file) hash = (hash ^ static_cast<uint8_t>(*file)) * kPrime;
  for (int shift = 0; shift < 16; shift += 8) hash = (hash ^ (line >> shift & 0xff)) * kPrime;
  return hash << 6;
}

// Appends a record; drops the oldest when kFailureRecords are stored. Safe to call from several threads.
void record_failure(uint32_t record);
// Records the index of the instruction that failed.
inline void record_index(size_t number) { record_failure(static_cast<uint32_t>(number) << 6); }
// Records needed - given, the missing bytes of memory. Precondition: needed > given.
void record_shortage(size_t needed, size_t given);

namespace internal {
Error record_and_return(uint32_t record);
}

// Records a failure and returns `code`. If both arguments are constants, the compiler merges them into one
// word.
inline Error failed(Error code, uint32_t position_bits) {
  return internal::record_and_return(position_bits | static_cast<uint32_t>(code));
}
// Overload for functions that return a null pointer instead of an Error; records Error::Internal.
inline decltype(nullptr) failed(decltype(nullptr), uint32_t position_bits) {
  record_failure(position_bits | static_cast<uint32_t>(Error::Internal));
  return nullptr;
}

}  // namespace rushlight
