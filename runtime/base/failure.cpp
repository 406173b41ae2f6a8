// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/failure.h"

#include <atomic>

namespace rushlight {

namespace {

// A ring that several threads may write to; what they fail at is then mixed.
std::atomic<uint32_t> records[kFailureRecords];
std::atomic<uint32_t> recorded;

}  // namespace

void record_failure(uint32_t record) {
  const uint32_t number = recorded.load(std::memory_order_relaxed);
  records[number % kFailureRecords].store(record, std::memory_order_relaxed);
  recorded.store(number + 1, std::memory_order_relaxed);
}

namespace internal {

Error record_and_return(uint32_t record) {
  record_failure(record);
  return static_cast<Error>(record & 0x3f);
}

}  // namespace internal

FailureTrace failure_trace() {
  FailureTrace trace{};
  const uint32_t number = recorded.load(std::memory_order_relaxed);
  for (uint32_t i = number > kFailureRecords ? number - static_cast<uint32_t>(kFailureRecords) : 0;
       i != number; ++i) {
    trace.records[trace.size++] = records[i % kFailureRecords].load(std::memory_order_relaxed);
  }
  return trace;
}

}  // namespace rushlight
