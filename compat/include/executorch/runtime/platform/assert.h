// SPDX-License-Identifier: BSD-3-Clause
// Checks that end the process: in every build (ET_CHECK), or in debug builds (ET_DCHECK). They are for
// programming errors; bad input is reported by an Error (ET_CHECK_OR_RETURN_ERROR in core/error.h) and in
// kernels by the context (ET_KERNEL_CHECK), as on a device nobody restarts an aborted process.
#pragma once

#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/log.h>

// Logs "function(): assertion failed" and the formatted text at level Fatal. `format_` must be a literal,
// because it is concatenated.
#define ET_ASSERT_MESSAGE_EMIT(format_, ...) \
  ET_LOG(Fatal, "%s(): assertion failed" format_, ET_FUNCTION, ##__VA_ARGS__)

// Evaluates the condition once. If it is false, logs its text and the printf-style message, then aborts. With
// ET_LOG_ENABLED=0 the message's arguments are not evaluated, but the check and the abort remain.
//
//   ET_CHECK_MSG(n < limit, "%d items", n);    // f(): assertion failed (n < limit): 9 items
#define ET_CHECK_MSG(condition_, format_, ...)                               \
  do {                                                                       \
    if ET_UNLIKELY (!(condition_)) {                                         \
      ET_ASSERT_MESSAGE_EMIT(" (%s): " format_, #condition_, ##__VA_ARGS__); \
      ::executorch::runtime::runtime_abort();                                \
    }                                                                        \
  } while (0)

// The same without a message.
#define ET_CHECK(condition_)                       \
  do {                                             \
    if ET_UNLIKELY (!(condition_)) {               \
      ET_ASSERT_MESSAGE_EMIT(": %s", #condition_); \
      ::executorch::runtime::runtime_abort();      \
    }                                              \
  } while (0)

// Compiled only without NDEBUG; with it the condition is not evaluated, so it must have no side effect.
// ET_DEBUG_ONLY marks a variable that only such checks read, which would otherwise be reported as unused.
#ifdef NDEBUG
#define ET_DCHECK_MSG(condition_, format_, ...) ((void)0)
#define ET_DCHECK(condition_) ((void)0)
#define ET_DEBUG_ONLY [[maybe_unused]]
#else
#define ET_DCHECK_MSG(condition_, format_, ...) ET_CHECK_MSG(condition_, format_, ##__VA_ARGS__)
#define ET_DCHECK(condition_) ET_CHECK(condition_)
#define ET_DEBUG_ONLY
#endif

// Marks code that no input can reach. Aborts in every build, debug or not; ET_UNREACHABLE() behind it tells
// the compiler that no return value is needed.
#define ET_ASSERT_UNREACHABLE()              \
  do {                                       \
    ET_CHECK_MSG(false, "unreachable code"); \
    ET_UNREACHABLE();                        \
  } while (0)

#define ET_ASSERT_UNREACHABLE_MSG(format_, ...)                       \
  do {                                                                \
    ET_CHECK_MSG(false, "unreachable code: " format_, ##__VA_ARGS__); \
    ET_UNREACHABLE();                                                 \
  } while (0)
