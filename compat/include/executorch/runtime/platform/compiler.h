// SPDX-License-Identifier: BSD-3-Clause
// Attributes and compiler properties under their official names, for GCC and Clang.
#pragma once

#include <sys/types.h>

#if __cplusplus < 201703L
#error "expected C++17 or later"
#endif

#define ET_NORETURN [[noreturn]]
#define ET_NODISCARD [[nodiscard]]
#define ET_DEPRECATED [[deprecated]]
#define ET_EXPERIMENTAL [[deprecated("experimental: it may change without notice")]]
#define ET_FALLTHROUGH [[fallthrough]]
#define ET_UNUSED [[maybe_unused]]
#define ET_NOINLINE __attribute__((noinline))
#define ET_INLINE __attribute__((always_inline)) inline
#define ET_RESTRICT __restrict__
#define ET_WEAK __attribute__((weak))
#define ET_UNREACHABLE() __builtin_unreachable()
#define ET_PRINTFLIKE(format_index, first_index) __attribute__((format(printf, format_index, first_index)))

// Used as `if ET_LIKELY (condition)`: the macro adds the parentheses.
#if __cplusplus >= 202002L
#define ET_LIKELY(expression) (expression) [[likely]]
#define ET_UNLIKELY(expression) (expression) [[unlikely]]
#else
#define ET_LIKELY(expression) (expression)
#define ET_UNLIKELY(expression) (expression)
#endif

#ifdef __FILE_NAME__
#define ET_SHORT_FILENAME __FILE_NAME__
#else
#define ET_SHORT_FILENAME (__builtin_strrchr("/" __FILE__, '/') + 1)
#endif
#define ET_LINE __builtin_LINE()
#if defined(ET_USE_BUILTIN_FUNCTION_NAME) && ET_USE_BUILTIN_FUNCTION_NAME == 0
#define ET_FUNCTION __FUNCTION__
#else
#define ET_FUNCTION __builtin_FUNCTION()
#endif

#define ET_PRIsize_t "zu"
#define ET_PRIssize_t "zd"

#ifndef ET_HAVE_GNU_STATEMENT_EXPRESSIONS
#define ET_HAVE_GNU_STATEMENT_EXPRESSIONS 1
#endif

#ifdef __EXCEPTIONS
#define ET_HAS_EXCEPTIONS 1
#else
#define ET_HAS_EXCEPTIONS 0
#endif

// Older spellings.
#define __ET_DEPRECATED ET_DEPRECATED
#define __ET_FALLTHROUGH ET_FALLTHROUGH
#define __ET_FUNCTION ET_FUNCTION
#define __ET_HAVE_GNU_STATEMENT_EXPRESSIONS ET_HAVE_GNU_STATEMENT_EXPRESSIONS
#define __ET_INLINE ET_INLINE
#define __ET_LIKELY ET_LIKELY
#define __ET_LINE ET_LINE
#define __ET_NODISCARD ET_NODISCARD
#define __ET_NOINLINE ET_NOINLINE
#define __ET_NORETURN ET_NORETURN
#define __ET_PRINTFLIKE ET_PRINTFLIKE
#define __ET_SHORT_FILENAME ET_SHORT_FILENAME
#define __ET_UNLIKELY ET_UNLIKELY
#define __ET_UNREACHABLE ET_UNREACHABLE
#define __ET_UNUSED ET_UNUSED
#define __ET_WEAK ET_WEAK
