// SPDX-License-Identifier: BSD-3-Clause
// The fuzzers' platform: log lines are printed only on request.
#include "runtime/platform/platform.h"

#include <cstdio>
#include <cstdlib>

namespace rushlight::platform {

void init() {}

void abort() { std::abort(); }

void emit_log(LogLevel, const char* file, int line, const char* message) {
  static const bool wanted = std::getenv("RUSHLIGHT_FUZZ_LOG") != nullptr;
  if (wanted) std::fprintf(stderr, "%s:%d: %s\n", file, line, message);
}

uint64_t now_ns() { return 0; }

uint64_t instruction_count() { return 0; }

Span<uint8_t> claim_memory(size_t) { return {}; }

}  // namespace rushlight::platform
