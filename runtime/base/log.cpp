// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/log.h"

#if RUSHLIGHT_LOG_LEVEL < 3

#include <cstdarg>
#include <cstdio>

#include "runtime/base/utf8.h"

namespace rushlight {

namespace platform {
void emit_log(LogLevel level, const char* file, int line, const char* message);  // the platform layer's
}

void log_line(LogLevel level, const char* file, int line, const char* format, ...) {
  // On the stack, so that logging works without a heap and before platform::init().
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  if (static_cast<size_t>(length) >= sizeof message) {
    message[without_partial_character(message, sizeof message - 1)] = '\0';
  }
  platform::emit_log(level, file, line, message);
}

}  // namespace rushlight

#endif
