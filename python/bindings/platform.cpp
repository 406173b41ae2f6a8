// SPDX-License-Identifier: BSD-3-Clause
// Platform layer inside a Python process: log lines are kept for the exception that they explain. Only errors
// are kept, and only on the thread that logged them.
#include "runtime/platform/platform.h"

#include <chrono>
#include <cstdlib>

#include "python/bindings/captured_log.h"

namespace rushlight {

CapturedLog& captured_log() {
  thread_local CapturedLog log;
  return log;
}

namespace platform {

void init() {}

void abort() { std::abort(); }

void emit_log(LogLevel level, const char* file, int, const char* message) {
  if (level != LogLevel::Error) return;
  CapturedLog& log = captured_log();
  // The first line names the innermost cause, so its source file is kept.
  if (log.text.empty()) {
    log.source_file = file;
  } else {
    log.text += '\n';
  }
  log.text += message;
}

uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

uint64_t instruction_count() { return 0; }

// The module layer allocates from the heap instead.
Span<uint8_t> claim_memory(size_t, Bank) { return {}; }

}  // namespace platform

}  // namespace rushlight
