// SPDX-License-Identifier: BSD-3-Clause
// Errors without text, for builds that cannot hold it: one number per failed check, which encodes its place
// in the sources and the code that it returned. `rushlight decode` reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"

namespace rushlight {

// Bits 0 to 5 of a record are the Error; 6 to 15 the line, modulo 1024; 16 to 31 a hash of the file's path
// from the root of the sources. A record whose code is Ok carries a number instead, in bits 6 to 31: the
// instruction that failed.
inline constexpr size_t kFailureRecords = 6;

struct FailureTrace {
  uint32_t records[kFailureRecords];  // the oldest first: the innermost check before those that passed it on
  size_t size;
};

// The last failed checks of this program; from before main() on, and never cleared.
FailureTrace failure_trace();

constexpr uint32_t failure_place(const char* file, unsigned line) {
  uint32_t hash = 2166136261u;  // FNV-1a, folded to 16 bits
  for (; *file != '\0'; ++file) hash = (hash ^ static_cast<uint8_t>(*file)) * 16777619u;
  return ((hash >> 16) ^ (hash & 0xffff)) << 16 | (line & 0x3ff) << 6;
}

void record_failure(uint32_t record);
inline void record_number(size_t number) { record_failure(static_cast<uint32_t>(number) << 6); }

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
