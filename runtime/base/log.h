// SPDX-License-Identifier: BSD-3-Clause
// Logging and checks. RL_LOG(Error, "argument %d: expected %s, got %s", ...) formats one line and passes it
// to the platform layer. Formats follow printf, with integers up to `long`.
//
// RUSHLIGHT_LOG_LEVEL removes lower levels at compile time, including their format strings: 0 keeps debug and
// above, 1 info, 2 error, 3 nothing (the default).
//
// Without logs a failed RL_CHECK leaves a record with its source position and code (failure.h), which
// `rushlight decode` translates; RUSHLIGHT_FAILURE_TRACE=0 removes the records too.
#pragma once

#include "runtime/base/failure.h"

#ifndef RUSHLIGHT_LOG_LEVEL
#define RUSHLIGHT_LOG_LEVEL 3
#endif
#ifndef RUSHLIGHT_FAILURE_TRACE
#define RUSHLIGHT_FAILURE_TRACE 1
#endif

namespace rushlight {

// Severity of a log line.
enum class LogLevel : unsigned char { Debug = 0, Info = 1, Error = 2 };

// Formats into a stack buffer of 256 bytes, cuts longer lines at a character boundary, and calls
// platform::emit_log.
__attribute__((format(printf, 4, 5))) void log_line(LogLevel level, const char* file, int line,
                                                    const char* format, ...);

// Converts a count or index of any width to the type that %lu expects.
constexpr unsigned long log_number(unsigned long long value) { return static_cast<unsigned long>(value); }

}  // namespace rushlight

// Logs one line if `level` is enabled. The arguments are compiled in every build, so that a build without
// logs still checks them; the condition is constant and the optimizer removes the call.
#define RL_LOG(level, ...)                                                                  \
  do {                                                                                      \
    if constexpr (static_cast<int>(::rushlight::LogLevel::level) >= RUSHLIGHT_LOG_LEVEL) {  \
      ::rushlight::log_line(::rushlight::LogLevel::level, __FILE__, __LINE__, __VA_ARGS__); \
    }                                                                                       \
  } while (false)

// If `condition` is false: logs at level Error and returns `code` from the calling function.
#if RUSHLIGHT_LOG_LEVEL >= 3 && RUSHLIGHT_FAILURE_TRACE
#define RL_CHECK(condition, code, ...)                                                    \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      RL_LOG(Error, __VA_ARGS__);                                                         \
      constexpr uint32_t rl_position = ::rushlight::failure_position(__FILE__, __LINE__); \
      return ::rushlight::failed(code, rl_position);                                      \
    }                                                                                     \
  } while (false)
#else
#define RL_CHECK(condition, code, ...) \
  do {                                 \
    if (!(condition)) {                \
      RL_LOG(Error, __VA_ARGS__);      \
      return (code);                   \
    }                                  \
  } while (false)
#endif

// Record the index of an instruction, or a shortage of memory, beside the failed checks, also in builds with
// logs.
#if RUSHLIGHT_FAILURE_TRACE
#define RL_RECORD_INDEX(number) ::rushlight::record_index(number)
#define RL_RECORD_SHORTAGE(needed, given) ::rushlight::record_shortage(needed, given)
#else
#define RL_RECORD_INDEX(number) static_cast<void>(number)
#define RL_RECORD_SHORTAGE(needed, given) static_cast<void>(needed), static_cast<void>(given)
#endif
