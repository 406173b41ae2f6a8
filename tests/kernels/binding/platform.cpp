// SPDX-License-Identifier: BSD-3-Clause
// The platform of the test binding: log lines are kept, so that a test can read them.
#include "runtime/platform/platform.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/kernels/binding/captured_log.h"

namespace rushlight::testing {

std::vector<std::string>& captured_log() {
  static std::vector<std::string> lines;
  return lines;
}

}  // namespace rushlight::testing

namespace rushlight::platform {

void init() {}

void abort() { std::abort(); }

void emit_log(LogLevel, const char*, int, const char* message) {
  testing::captured_log().emplace_back(message);
}

uint64_t now_ns() { return 0; }

uint64_t instruction_count() { return 0; }

Span<uint8_t> free_memory() { return {}; }

}  // namespace rushlight::platform
