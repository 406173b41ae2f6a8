// SPDX-License-Identifier: BSD-3-Clause
// c10's compiler macros, for GCC and Clang on hosts; those for GPU compilers expand to nothing. Not all of
// them serve rushlight: kernels written for PyTorch expect the whole set.
#pragma once

#include <cassert>
#include <cstdint>

#include <torch/headeronly/macros/Export.h>

// Functions whose operation is intended although a sanitizer reports it, such as division by 0 in a kernel
// that follows IEEE 754. Under GCC they expand to nothing.
#ifdef __clang__
#define RUSHLIGHT_UNCHECKED(check) __attribute__((no_sanitize(check)))
#else
#define RUSHLIGHT_UNCHECKED(check)
#endif
#define __ubsan_ignore_float_divide_by_zero__ RUSHLIGHT_UNCHECKED("float-divide-by-zero")
#define __ubsan_ignore_undefined__ RUSHLIGHT_UNCHECKED("undefined")
#define __ubsan_ignore_signed_int_overflow__ RUSHLIGHT_UNCHECKED("signed-integer-overflow")
#define __ubsan_ignore_pointer_overflow__ RUSHLIGHT_UNCHECKED("pointer-overflow")
#define __ubsan_ignore_function__ RUSHLIGHT_UNCHECKED("function")
#define __ubsan_ignore_float_cast_overflow__ RUSHLIGHT_UNCHECKED("float-cast-overflow")

// 1 if the compiler defines __SANITIZE_ADDRESS__, as GCC does for its address sanitizer. No compiler
// announces UBSan, so it counts as absent.
#ifdef __SANITIZE_ADDRESS__
#define C10_ASAN_ENABLED 1
#else
#define C10_ASAN_ENABLED 0
#endif
#define C10_UBSAN_ENABLED 0

// Deletes the copy operations; for the private part of a class.
#define C10_DISABLE_COPY_AND_ASSIGN(classname) \
  classname(const classname&) = delete;        \
  classname& operator=(const classname&) = delete

// A name that is new at each use, in each translation unit.
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(str) C10_CONCATENATE(str, C10_UID)
// One token from two, after expansion of both.
#define C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
#define C10_CONCATENATE_IMPL(s1, s2) s1##s2
// The text of the arguments after their expansion.
#define C10_STRINGIZE(...) C10_STRINGIZE_IMPL(__VA_ARGS__)
#define C10_STRINGIZE_IMPL(...) #__VA_ARGS__
#define C10_MACRO_EXPAND(...) __VA_ARGS__

// Attributes. The first one is a test, for #if.
#define C10_HAS_CPP_ATTRIBUTE(x) __has_cpp_attribute(x)
// Lets Clang warn if a result outlives the argument that it refers to.
#ifdef __clang__
#define C10_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define C10_LIFETIMEBOUND
#endif
#define C10_NODISCARD [[nodiscard]]
#define C10_UNUSED [[maybe_unused]]
// Keeps a static function or object that nothing refers to.
#define C10_USED __attribute__((__used__))
#define C10_RESTRICT __restrict
// Expressions, unlike ET_LIKELY: if (C10_LIKELY(x)). The condition becomes a bool.
#define C10_UNLIKELY(expr) (!C10_LIKELY(!(expr)))
#define C10_LIKELY(expr) (__builtin_expect(!!(expr), true))
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE __attribute__((__always_inline__)) inline
#define C10_ALWAYS_INLINE_ATTRIBUTE __attribute__((__always_inline__))
#define C10_ALWAYS_INLINE_UNLESS_MOBILE C10_ALWAYS_INLINE
#define C10_ATTR_VISIBILITY_HIDDEN __attribute__((__visibility__("hidden")))
// Inlines a function and hides its symbol, so that it leaves no trace in the binary.
#define C10_ERASE C10_ALWAYS_INLINE C10_ATTR_VISIBILITY_HIDDEN

// GPU kernels' attributes; their assertions become the standard assert(), which NDEBUG removes.
#define C10_HOST_DEVICE
#define C10_HOST
#define C10_DEVICE
#define C10_HIP_HOST_DEVICE
#define C10_WARP_SIZE 32
#define C10_WARP_SIZE_LOWER_BOUND 32
#define C10_WARP_SIZE_UPPER_BOUND 32
#define CUDA_KERNEL_ASSERT(cond) assert(cond)
#define CUDA_KERNEL_ASSERT_MSG(cond, msg) assert((cond) && (msg))
#define CUDA_KERNEL_ASSERT_PRINTF(cond, msg, ...) assert((cond) && (msg))
#define CUDA_KERNEL_ASSERT_VERBOSE(cond, ...) assert(cond)
#define SYCL_KERNEL_ASSERT(cond) assert(cond)

// Alternatives for Windows and for CUDA on it; hosts here take the standard form.
#define CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define C10_HOST_CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define STATIC_CONSTEXPR_STR_INL_EXCEPT_WIN_CUDA(field, val) static constexpr const char field[] = val;
#define STATIC_CONST_STR_OUT_OF_LINE_FOR_WIN_CUDA(cls, field, val)
#define HAS_DEMANGLE 1

// Switch a warning off for a region: _PUSH_AND_IGNORED_IF_DEFINED("-Wname") before it, _POP() behind it. A
// warning that the compiler does not know is no error. The CLANG forms do nothing under GCC.
#define RUSHLIGHT_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef __clang__
#define C10_CLANG_DIAGNOSTIC_POP() RUSHLIGHT_PRAGMA(clang diagnostic pop)
#define C10_CLANG_DIAGNOSTIC_PUSH() RUSHLIGHT_PRAGMA(clang diagnostic push)
#define C10_CLANG_DIAGNOSTIC_IGNORE(flag) RUSHLIGHT_PRAGMA(clang diagnostic ignored flag)
#define C10_CLANG_HAS_WARNING(flag) __has_warning(flag)
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning)             \
  C10_CLANG_DIAGNOSTIC_PUSH()                                           \
  RUSHLIGHT_PRAGMA(clang diagnostic ignored "-Wunknown-warning-option") \
  RUSHLIGHT_PRAGMA(clang diagnostic ignored warning)
#define C10_DIAGNOSTIC_POP() RUSHLIGHT_PRAGMA(clang diagnostic pop)
#else
#define C10_CLANG_DIAGNOSTIC_PUSH()
#define C10_CLANG_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_IGNORE(flag)
#define C10_CLANG_HAS_WARNING(flag) 0
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning) \
  RUSHLIGHT_PRAGMA(GCC diagnostic push)                     \
  RUSHLIGHT_PRAGMA(GCC diagnostic ignored "-Wpragmas") RUSHLIGHT_PRAGMA(GCC diagnostic ignored warning)
#define C10_DIAGNOSTIC_POP() RUSHLIGHT_PRAGMA(GCC diagnostic pop)
#endif
// 1 for compilers that need std::move in some return statements: GCC before 13, below C++20.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13 && __cplusplus < 202002L
#define C10_RETURN_MOVE_IF_OLD_COMPILER 1
#else
#define C10_RETURN_MOVE_IF_OLD_COMPILER 0
#endif

// ATen's namespace is c10's.
namespace c10 {}
namespace at {
using namespace c10;
}

// HIDDEN_NAMESPACE_BEGIN(torch, headeronly) opens nested namespaces, the innermost with hidden symbols;
// HIDDEN_NAMESPACE_END(torch, headeronly) closes them. One to three names.
#define HIDDEN_NAMESPACE_BEGIN(...) \
  RUSHLIGHT_BY_COUNT(__VA_ARGS__, RUSHLIGHT_HIDDEN3, RUSHLIGHT_HIDDEN2, RUSHLIGHT_HIDDEN1, 0)(__VA_ARGS__)
#define HIDDEN_NAMESPACE_END(...) \
  RUSHLIGHT_BY_COUNT(__VA_ARGS__, RUSHLIGHT_END2, RUSHLIGHT_END2, RUSHLIGHT_END1, 0)
#define RUSHLIGHT_BY_COUNT(first, second, third, chosen, ...) chosen
#define RUSHLIGHT_HIDDEN1(inner) namespace inner C10_ATTR_VISIBILITY_HIDDEN {
#define RUSHLIGHT_HIDDEN2(outer, inner) \
  namespace outer {                     \
  RUSHLIGHT_HIDDEN1(inner)
#define RUSHLIGHT_HIDDEN3(outer, middle, inner) RUSHLIGHT_HIDDEN2(outer::middle, inner)
#define RUSHLIGHT_END1 }
#define RUSHLIGHT_END2 RUSHLIGHT_END1 RUSHLIGHT_END1
