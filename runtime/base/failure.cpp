// SPDX-License-Identifier: BSD-3-Clause
// Records are words: an error code in the lower 6 bits, and above it a position in the sources, an index or a
// number of missing bytes (failure.h).
#include "runtime/base/failure.h"

#include <atomic>

namespace rushlight {

namespace {

// Several threads may write at once: records of concurrent failures are then interleaved, never torn.
std::atomic<uint32_t> records[kFailureRecords];
std::atomic<uint32_t> recorded;  // count of valid entries in `records`

}  // namespace

// Appends; when full, drops the oldest record. Loads and stores suffice: a lost record under concurrency is
// acceptable, and cores without atomic read-modify-write need no helper function.
void record_failure(uint32_t record) {
  uint32_t at = recorded.load(std::memory_order_relaxed);
  if (at == kFailureRecords) {
    --at;
    for (uint32_t i = 0; i < at; ++i) {
      records[i].store(records[i + 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
  }
  records[at].store(record, std::memory_order_relaxed);
  recorded.store(at + 1, std::memory_order_relaxed);
}

void record_shortage(size_t needed, size_t given) {
  constexpr size_t kMost = (1u << 26) - 1;
  // Saturates at 26 bits: 64 MiB.
  const size_t bytes = needed - given;
  record_failure(static_cast<uint32_t>(bytes < kMost ? bytes : kMost) << 6 | kShortage);
}

namespace internal {

Error record_and_return(uint32_t record) {
  record_failure(record);
  return static_cast<Error>(record & 0x3f);
}

}  // namespace internal

FailureTrace failure_trace() {
  FailureTrace trace;
  trace.size = recorded.load(std::memory_order_relaxed);
  for (size_t i = 0; i < kFailureRecords; ++i) trace.records[i] = records[i].load(std::memory_order_relaxed);
  return trace;
}

}  // namespace rushlight
