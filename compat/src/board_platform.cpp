// SPDX-License-Identifier: BSD-3-Clause
// The platform functions that kernels use, for boards: clock, log and abort. Replaceable hooks and heap
// memory are for hosts (platform.cpp).
#include <cstdio>

#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>

#include "runtime/base/utf8.h"
#include "runtime/platform/platform.h"

namespace executorch::runtime {

void pal_abort() { rushlight::platform::abort(); }

void runtime_abort() { rushlight::platform::abort(); }

et_timestamp_t pal_current_ticks() { return rushlight::platform::now_ns(); }

et_tick_ratio_t pal_ticks_to_ns_multiplier() { return {1, 1}; }

namespace internal {

et_timestamp_t get_log_timestamp() { return pal_current_ticks(); }

void vlogf(LogLevel level, et_timestamp_t, const char* filename, const char*, size_t line, const char* format,
           va_list args) {
  constexpr rushlight::LogLevel kLevels[] = {rushlight::LogLevel::Debug, rushlight::LogLevel::Info};
  const auto number = static_cast<size_t>(level);
  // On the stack: half of the hosts' length.
  char message[128];
  const int length = vsnprintf(message, sizeof message, format, args);
  if (length < 0) return;
  if (static_cast<size_t>(length) >= sizeof message) {
    message[rushlight::without_partial_character(message, sizeof message - 1)] = '\0';
  }
  rushlight::platform::emit_log(number < 2 ? kLevels[number] : rushlight::LogLevel::Error, filename,
                                static_cast<int>(line), message);
}

}  // namespace internal

}  // namespace executorch::runtime
