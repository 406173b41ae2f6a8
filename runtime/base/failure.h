// SPDX-License-Identifier: BSD-3-Clause
// Errors without text, for builds that cannot hold it: one number per failed check, which encodes its place
// in the sources and the code that it returned. `rushlight decode` reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"

namespace rushlight {

// Bits 0 to 5 of a record are the Error; 6 to 31 the place of the check, a hash of its file's path from the
// root of the sources and its line. The sources are the table of places: the device holds no text, and no
// file has to be named so that hashes differ. Two of 650 checks share one of 2^26 places in 3 of 1,000
// versions; `rushlight decode` names both then, unless the code tells them apart. A record whose code is Ok
// carries a number instead, in bits 6 to 31: the instruction that failed. One whose code is kShortage, which
// is no Error, carries the bytes that memory was short of; 2^26 - 1 stands for all larger numbers.
inline constexpr uint32_t kShortage = 0x3f;
inline constexpr size_t kFailureRecords = 6;

struct FailureTrace {
  uint32_t size = 0;
  uint32_t records[kFailureRecords];  // the oldest first: the innermost check before those that passed it on
};

// The last failed checks of this program; from before main() on, and never cleared.
FailureTrace failure_trace();

// FNV-1a of the path and of two bytes of the line, cut to 26 bits.
constexpr uint32_t failure_place(const char* file, unsigned line) {
  constexpr uint32_t kPrime = 16777619u;
  uint32_t hash = 2166136261u;
  for (; *file != '\0'; ++file) hash = (hash ^ static_cast<uint8_t>(*file)) * kPrime;
  for (int shift = 0; shift < 16; shift += 8) hash = (hash ^ (line >> shift & 0xff)) * kPrime;
  return hash << 6;
}

void record_failure(uint32_t record);
inline void record_number(size_t number) { record_failure(static_cast<uint32_t>(number) << 6); }
void record_shortage(size_t needed, size_t given);

namespace internal {
Error record_and_return(uint32_t record);
}

// `code`, recorded. Codes that are known while compiling share one word with their place.
inline Error failed(Error code, uint32_t place) {
  return internal::record_and_return(place | static_cast<uint32_t>(code));
}
// For checks that return something else.
inline decltype(nullptr) failed(decltype(nullptr), uint32_t place) {
  record_failure(place | static_cast<uint32_t>(Error::Internal));
  return nullptr;
}

}  // namespace rushlight
