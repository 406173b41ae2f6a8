// SPDX-License-Identifier: BSD-3-Clause
// ET_LOG(Info, "%d of %d", ...) passes a line to pal_emit_log_message(). Levels below ET_MIN_LOG_LEVEL are
// removed at compile time, all of them if ET_LOG_ENABLED is 0. Both macros apply to the translation unit that
// defines them: a library keeps the level with which it was compiled.
//
//   ET_LOG(Error, "input %zu: expected %zu bytes, got %zu", index, expected, size);
//
// A line is formatted on the stack: at most 255 bytes on hosts and 127 on boards. A longer one is cut in
// front of the first UTF-8 character that does not fit. Logging allocates no memory.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/types.h>
#include <inttypes.h>

// The name of an enumerator of LogLevel, without its class.
#ifndef ET_MIN_LOG_LEVEL
#define ET_MIN_LOG_LEVEL Info
#endif
#ifndef ET_LOG_ENABLED
#define ET_LOG_ENABLED 1
#endif

namespace executorch::runtime {

// In ascending order of severity. NumLevels is their number, not a level.
enum class LogLevel : uint8_t { Debug, Info, Error, Fatal, NumLevels };

namespace internal {

// The platform's clock in ticks, 0 if the machine has none.
et_timestamp_t get_log_timestamp();

// Formats the message and emits it, in every build: callers apply ET_MIN_LOG_LEVEL. Emits nothing if the
// format is invalid. `filename` and `function` are passed on, not copied. A level outside of the enumeration
// is emitted as kUnknown (on boards as an error).
ET_PRINTFLIKE(6, 0)
void vlogf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function, size_t line,
           const char* format, va_list args);

// The same with the arguments themselves; empty if ET_LOG_ENABLED is 0 here.
ET_PRINTFLIKE(6, 7)
inline void logf([[maybe_unused]] LogLevel level, [[maybe_unused]] et_timestamp_t timestamp,
                 [[maybe_unused]] const char* filename, [[maybe_unused]] const char* function,
                 [[maybe_unused]] size_t line, [[maybe_unused]] const char* format, ...) {
#if ET_LOG_ENABLED
  va_list rest;
  va_start(rest, format);
  vlogf(level, timestamp, filename, function, line, format, rest);
  va_end(rest);
#endif
}

}  // namespace internal
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::LogLevel;
}

// A statement. `level_` is an enumerator without its class, `format_` a printf format of the arguments.
// Arguments of a removed level are type-checked but not evaluated; with ET_LOG_ENABLED=0 they are not even
// compiled.
#if ET_LOG_ENABLED
#define ET_LOG(level_, format_, ...)                                                             \
  do {                                                                                           \
    constexpr auto et_log_level = ::executorch::runtime::LogLevel::level_;                       \
    if (static_cast<uint32_t>(et_log_level) >=                                                   \
        static_cast<uint32_t>(::executorch::runtime::LogLevel::ET_MIN_LOG_LEVEL)) {              \
      ::executorch::runtime::internal::logf(                                                     \
          et_log_level, ::executorch::runtime::internal::get_log_timestamp(), ET_SHORT_FILENAME, \
          ET_FUNCTION, ET_LINE, format_, ##__VA_ARGS__);                                         \
    }                                                                                            \
  } while (0)
// Logs the message at level Error if the condition is false, and continues. The condition is evaluated once,
// and not at all with ET_LOG_ENABLED=0.
#define ET_CHECK_OR_LOG_ERROR(condition_, format_, ...)       \
  do {                                                        \
    if (!(condition_)) ET_LOG(Error, format_, ##__VA_ARGS__); \
  } while (0)
#else
#define ET_LOG(level_, format_, ...) ((void)0)
#define ET_CHECK_OR_LOG_ERROR(condition_, format_, ...) ((void)0)
#endif
