// SPDX-License-Identifier: BSD-3-Clause
// Attributes and compiler properties under their official names, for GCC and Clang. Code that includes this
// header needs C++17.
#pragma once

#include <sys/types.h>

#if __cplusplus < 201703L
#error "expected C++17 or later"
#endif

// Attributes of C++17. Two of them warn where the marked name is used: ET_EXPERIMENTAL says that it may
// change, ET_DEPRECATED that code should move to another.
#define ET_NORETURN [[noreturn]]
#define ET_NODISCARD [[nodiscard]]
#define ET_DEPRECATED [[deprecated]]
#define ET_EXPERIMENTAL [[deprecated("experimental: it may change without notice")]]
#define ET_FALLTHROUGH [[fallthrough]]
#define ET_UNUSED [[maybe_unused]]
// Attributes of GCC and Clang. ET_INLINE inlines in debug builds, too. ET_RESTRICT promises that no other
// pointer leads to the same memory. ET_WEAK lets another definition at link time replace this one.
#define ET_NOINLINE __attribute__((noinline))
#define ET_INLINE __attribute__((always_inline)) inline
#define ET_RESTRICT __restrict__
#define ET_WEAK __attribute__((weak))
// Promises that control never arrives here; if it does, the behaviour is undefined. See
// ET_ASSERT_UNREACHABLE() in platform/assert.h, which aborts first.
#define ET_UNREACHABLE() __builtin_unreachable()
// Lets the compiler check the arguments against the format: the parameters' numbers count from 1 (from 2 in a
// member function, whose `this` is the first); `first_index` is 0 for a va_list.
#define ET_PRINTFLIKE(format_index, first_index) __attribute__((format(printf, format_index, first_index)))

// Used as `if ET_LIKELY (condition)`: the macro adds the parentheses. Before C++20 it has no attribute for
// the branch and is the plain condition.
#if __cplusplus >= 202002L
#define ET_LIKELY(expression) (expression) [[likely]]
#define ET_UNLIKELY(expression) (expression) [[unlikely]]
#else
#define ET_LIKELY(expression) (expression)
#define ET_UNLIKELY(expression) (expression)
#endif

// The position in the source. ET_SHORT_FILENAME is the name without its folders. ET_LINE and ET_FUNCTION are
// builtins: as default arguments of a function they name the caller, not the function.
// ET_USE_BUILTIN_FUNCTION_NAME=0 selects __FUNCTION__, for compilers whose builtin is missing.
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

// Conversion specifications of size_t and ssize_t for printf: "%" ET_PRIsize_t.
#define ET_PRIsize_t "zu"
#define ET_PRIssize_t "zd"

// 1 if ({ ... }) is an expression, on which ET_UNWRAP (core/result.h) depends.
#ifndef ET_HAVE_GNU_STATEMENT_EXPRESSIONS
#define ET_HAVE_GNU_STATEMENT_EXPRESSIONS 1
#endif

// 1 if the translation unit is compiled with exceptions. The runtime throws none in either case;
// extension/pytree does if it may.
#ifdef __EXCEPTIONS
#define ET_HAS_EXCEPTIONS 1
#else
#define ET_HAS_EXCEPTIONS 0
#endif

// Older spellings. Names with two underscores are reserved for the compiler: new code uses the names above.
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
