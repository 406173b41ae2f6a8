// SPDX-License-Identifier: BSD-3-Clause
// RL_LOG(Error, "argument %d: expected %s, got %s", ...) hands one line to the platform's sink.
// RUSHLIGHT_LOG_LEVEL drops everything below it at compile time, format strings included:
// 0 debug, 1 info, 2 error, 3 nothing. Formats take what printf takes, integers up to `long`.
//
// Without logs a failed RL_CHECK leaves its place in the source and its code as one number instead
// (failure.h), which `rushlight decode` turns back into words; RUSHLIGHT_FAILURE_TRACE=0 drops that too.
#pragma once

#include "runtime/base/failure.h"

#ifndef RUSHLIGHT_LOG_LEVEL
#define RUSHLIGHT_LOG_LEVEL 3
#endif
#ifndef RUSHLIGHT_FAILURE_TRACE
#define RUSHLIGHT_FAILURE_TRACE 1
#endif

namespace rushlight {

enum class LogLevel : unsigned char { Debug = 0, Info = 1, Error = 2 };

// Formats into a stack buffer (longer lines are cut) and calls platform::emit_log.
__attribute__((format(printf, 4, 5))) void log_line(LogLevel level, const char* file, int line,
                                                    const char* format, ...);

// A count or index of any width, for %lu.
constexpr unsigned long log_number(unsigned long long value) { return static_cast<unsigned long>(value); }

}  // namespace rushlight

// Arguments are compiled in either case, so that a build without logs cannot rot; the branch is constant.
#define RL_LOG(level, ...)                                                                  \
  do {                                                                                      \
    if constexpr (static_cast<int>(::rushlight::LogLevel::level) >= RUSHLIGHT_LOG_LEVEL) {  \
      ::rushlight::log_line(::rushlight::LogLevel::level, __FILE__, __LINE__, __VA_ARGS__); \
    }                                                                                       \
  } while (false)

// Logs at Error and returns `code` unless `condition` holds.
#if RUSHLIGHT_LOG_LEVEL >= 3 && RUSHLIGHT_FAILURE_TRACE
#define RL_CHECK(condition, code, ...)                                              \
  do {                                                                              \
    if (!(condition)) {                                                             \
      RL_LOG(Error, __VA_ARGS__);                                                   \
      constexpr uint32_t rl_place = ::rushlight::failure_place(__FILE__, __LINE__); \
      return ::rushlight::failed(code, rl_place);                                   \
    }                                                                               \
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

// Leaves an instruction's number, or how many bytes were short, beside the places; with logs, too.
#if RUSHLIGHT_FAILURE_TRACE
#define RL_RECORD_NUMBER(number) ::rushlight::record_number(number)
#define RL_RECORD_SHORTAGE(needed, given) ::rushlight::record_shortage(needed, given)
#else
#define RL_RECORD_NUMBER(number) static_cast<void>(number)
#define RL_RECORD_SHORTAGE(needed, given) static_cast<void>(needed), static_cast<void>(given)
#endif
