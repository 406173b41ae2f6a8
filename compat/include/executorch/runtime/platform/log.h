// SPDX-License-Identifier: BSD-3-Clause
// ET_LOG(Info, "%d of %d", ...) passes a line to pal_emit_log_message. Levels below ET_MIN_LOG_LEVEL are
// removed, all of them if ET_LOG_ENABLED is 0.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/types.h>
#include <inttypes.h>

#ifndef ET_MIN_LOG_LEVEL
#define ET_MIN_LOG_LEVEL Info
#endif
#ifndef ET_LOG_ENABLED
#define ET_LOG_ENABLED 1
#endif

namespace executorch::runtime {

enum class LogLevel : uint8_t { Debug, Info, Error, Fatal, NumLevels };

namespace internal {

et_timestamp_t get_log_timestamp();

ET_PRINTFLIKE(6, 0)
void vlogf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function, size_t line,
           const char* format, va_list args);

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
#define ET_CHECK_OR_LOG_ERROR(condition_, format_, ...)       \
  do {                                                        \
    if (!(condition_)) ET_LOG(Error, format_, ##__VA_ARGS__); \
  } while (0)
#else
#define ET_LOG(level_, format_, ...) ((void)0)
#define ET_CHECK_OR_LOG_ERROR(condition_, format_, ...) ((void)0)
#endif
